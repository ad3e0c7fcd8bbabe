"""Lets Apple's own library, offline and with its strict X.509 checks, judge a running simulator.

judge.py <base URL> <root certificate in DER> <environment>
Every kind of product is bought, renewed and refunded; all that is signed must be accepted, and all
that is forged refused. Exit code 1 names what was judged otherwise.
"""

import json
import sys
import urllib.request

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

BASE, ROOT, ENVIRONMENT = sys.argv[1:]
TOKEN = "7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d11"
# What the library calls each forgery.
FORGERIES = {
    "other-root": "VERIFICATION_FAILURE",
    "bad-signature": "VERIFICATION_FAILURE",
    "tampered-payload": "VERIFICATION_FAILURE",
    "expired-leaf": "VERIFICATION_FAILURE",
    "missing-marker": "VERIFICATION_FAILURE",
    "wrong-bundle": "INVALID_APP_IDENTIFIER",
    "wrong-environment": "INVALID_ENVIRONMENT",
    "xcode": "INVALID_CHAIN_LENGTH",
}

with open(ROOT, "rb") as file:
    root = file.read()
app = 77 if ENVIRONMENT == "Production" else None
verifier = SignedDataVerifier([root], False, Environment(ENVIRONMENT), "com.example.app", app)


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data)) as answer:
        return json.load(answer)


def hold(condition, what):
    if not condition:
        sys.exit(f"judge: {what}")


hold(verifier._chain_verifier.enable_strict_checks, "the strict checks are off")
for product in call("/control/products")["products"]:
    bought = call(
        "/control/purchases",
        {"productId": product["productId"], "appAccountToken": TOKEN, "account": product["productId"]},
    )
    transaction = verifier.verify_and_decode_signed_transaction(bought["signedTransaction"])
    hold(transaction.rawType == product["type"], f"type {transaction.rawType}")
    hold(transaction.type is not None, f"the library does not know {transaction.rawType}")
    hold(transaction.appAccountToken == TOKEN, f"token {transaction.appAccountToken}")
    hold(transaction.price == bought["price"], f"price {transaction.price}")
    if "signedRenewalInfo" in bought:
        info = verifier.verify_and_decode_renewal_info(bought["signedRenewalInfo"])
        hold(info.renewalDate == transaction.expiresDate, f"renewalDate {info.renewalDate}")
        hold(info.autoRenewStatus is not None, f"autoRenewStatus {info.rawAutoRenewStatus}")
    refunded = call(f"/control/transactions/{bought['transactionId']}/refund", {"reason": 1})
    copy = verifier.verify_and_decode_signed_transaction(refunded["signedTransaction"])
    hold(copy.revocationDate is not None and copy.revocationReason is not None, "no revocation")
    hold(copy.revocationType is not None, "a revocation type that the library does not know")

# A clock that moves lets all notifications go first.
call("/control/clock", {"advanceSeconds": 0})
seen = set()
for entry in call("/control/notifications?limit=1000")["notifications"]:
    signed = call(f"/control/notifications/{entry['notificationUUID']}").get("signedPayload")
    hold(signed, f"{entry['notificationType']} was not sent")
    notification = verifier.verify_and_decode_notification(signed)
    hold(notification.notificationType is not None, notification.rawNotificationType)
    hold(notification.rawSubtype is None or notification.subtype is not None, "subtype")
    data = notification.data
    transaction = verifier.verify_and_decode_signed_transaction(data.signedTransactionInfo)
    hold(transaction.transactionId == entry["transactionId"], "another transaction")
    if data.signedRenewalInfo:
        verifier.verify_and_decode_renewal_info(data.signedRenewalInfo)
        hold(data.status is not None, f"status {data.rawStatus}")
    seen.add(entry["notificationType"])
hold(seen == {"ONE_TIME_CHARGE", "SUBSCRIBED", "REFUND"}, f"saw only {sorted(seen)}")

for kind, status in FORGERIES.items():
    forged = call("/control/forge", {"kind": kind})["signedTransaction"]
    try:
        verifier.verify_and_decode_signed_transaction(forged)
        hold(False, f"{kind} was accepted")
    except VerificationException as refusal:
        hold(refusal.status.name == status, f"{kind} was refused as {refusal.status.name}")
unknown = verifier.verify_and_decode_notification(
    call("/control/forge", {"kind": "unknown-type"})["signedPayload"]
)
hold(unknown.rawNotificationType == "SOMETHING_NEW", "the unknown type")
