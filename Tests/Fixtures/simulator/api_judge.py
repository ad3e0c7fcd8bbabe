"""Lets Apple's own API client drive every endpoint of a running simulator.

api_judge.py <base URL> <root certificate in DER> <API key> <environment>
What is answered must be what Apple's models hold, what is signed must be accepted by Apple's
verifier, and what is wrong must be refused with Apple's code. Exit code 1 names what was not.
"""

import json
import sys
import time
import urllib.request

from appstoreserverlibrary.api_client import (
    APIError,
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import (
    Order,
    ProductType,
    TransactionHistoryRequest,
)
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UserStatus import UserStatus
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

BASE, ROOT, KEY, ENVIRONMENT = sys.argv[1:]
TOKEN = "7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d11"
OTHER = "0d6b9f4e-5c0d-4d7c-8a57-0b1a4f6c2e33"
ISSUER = "57246542-96fe-1a63-e053-0824d011072a"
V2 = GetTransactionHistoryVersion.V2

with open(ROOT, "rb") as file:
    root = file.read()
with open(KEY, "rb") as file:
    key = file.read()
is_production = ENVIRONMENT == "Production"
verifier = SignedDataVerifier(
    [root], False, Environment(ENVIRONMENT), "com.example.app", 77 if is_production else None
)


def client_with(key_id="SIMULATED1", issuer=ISSUER, bundle="com.example.app"):
    client = AppStoreServerAPIClient(key, key_id, issuer, bundle, Environment(ENVIRONMENT))
    client._base_url = BASE
    return client


client = client_with()
driven = set()
for name in [name for name in dir(AppStoreServerAPIClient) if not name.startswith("_")]:

    def noted(name=name, method=getattr(client, name)):
        def call(*arguments, **options):
            driven.add(name)
            return method(*arguments, **options)

        return call

    setattr(client, name, noted())


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data)) as answer:
        return json.load(answer)


def hold(condition, what):
    if not condition:
        sys.exit(f"api_judge: {what}")


def refused(code, what, work):
    """The work must fail with one of Apple's codes, or with 401 and none."""
    try:
        work()
    except APIException as error:
        found = error.raw_api_error or error.http_status_code
        hold(found == code, f"{what}: {found} {error.error_message}, not {code}")
        if error.raw_api_error is not None:
            hold(error.api_error is not None, f"{what}: the library does not know {found}")
            hold(error.http_status_code == code // 10000, f"{what}: {error.http_status_code}")
        return
    sys.exit(f"api_judge: {what} was not refused")


def buy(product, account, **more):
    return call(
        "/control/purchases",
        {"productId": product, "account": account, "appAccountToken": TOKEN} | more,
    )


def transaction(signed):
    return verifier.verify_and_decode_signed_transaction(signed)


# Tokens.
refused(401, "an unknown key", lambda: client_with(key_id="OTHERKEY00").get_transaction_info("1"))
refused(401, "another issuer", lambda: client_with(issuer=OTHER).get_transaction_info("1"))
refused(401, "another app", lambda: client_with(bundle="com.other").get_transaction_info("1"))

# One transaction.
coins = buy("coins", "mary", quantity=3)
info = transaction(client.get_transaction_info(coins["transactionId"]).signedTransactionInfo)
hold(info.transactionId == coins["transactionId"], "transaction info: another transaction")
hold(info.quantity == 3 and info.appAccountToken == TOKEN, "transaction info: quantity or token")
refused(4040010, "an unknown id", lambda: client.get_transaction_info("42"))
refused(4000006, "an id that is none", lambda: client.get_transaction_info("abc"))
refused(
    4000048, "a download's id", lambda: client.get_transaction_info(coins["appTransactionId"])
)
app = verifier.verify_and_decode_app_transaction(
    client.get_app_transaction_info(coins["transactionId"]).signedAppTransactionInfo
)
hold(app.appTransactionId == coins["appTransactionId"], "app transaction: another download")

# A history of several pages, in both orders, by each of the three kinds of id, and filtered.
for _ in range(44):
    buy("coins", "mary")
pro = buy("pro.monthly", "mary")


def history(any_id, request, version=V2):
    ids, revision, pages = [], None, 0
    while True:
        page = client.get_transaction_history(any_id, revision, request, version)
        hold(len(page.signedTransactions) <= 20, "a page has more than 20 transactions")
        hold(page.bundleId == "com.example.app", "history: bundle id")
        hold(page.environment == Environment(ENVIRONMENT), "history: environment")
        ids += [transaction(signed).transactionId for signed in page.signedTransactions]
        pages, revision = pages + 1, page.revision
        hold(revision is not None, "a page without a revision")
        if not page.hasMore:
            return ids, pages, revision


every, pages, last = history(coins["transactionId"], TransactionHistoryRequest())
hold(len(every) == len(set(every)) == 46 and pages == 3, f"history: {len(every)} in {pages}")
for any_id in (pro["originalTransactionId"], coins["appTransactionId"]):
    hold(history(any_id, TransactionHistoryRequest())[0] == every, f"history by {any_id}")
backwards, _, _ = history(
    coins["transactionId"], TransactionHistoryRequest(sort=Order.DESCENDING)
)
hold(backwards == every[::-1], "the history in descending order")
subscriptions, _, _ = history(
    coins["transactionId"], TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE])
)
hold(subscriptions == [pro["transactionId"]], "the history of one type")
call(f"/control/transactions/{coins['transactionId']}/refund", {})
newer = client.get_transaction_history(
    coins["transactionId"], last, TransactionHistoryRequest(), V2
)
hold(
    [transaction(s).transactionId for s in newer.signedTransactions] == [coins["transactionId"]],
    "a kept revision does not give what changed since",
)
revoked, _, _ = history(coins["transactionId"], TransactionHistoryRequest(revoked=True))
hold(revoked == [coins["transactionId"]], "the history of revoked transactions")
client.finish_transaction(every[1])
with_v1, _, _ = history(
    coins["transactionId"], TransactionHistoryRequest(), GetTransactionHistoryVersion.V1
)
hold(every[1] not in with_v1 and len(with_v1) == 45, "version 1 shows a finished consumable")
refused(
    4000005,
    "a revision of another query",
    lambda: client.get_transaction_history(
        coins["transactionId"], last, TransactionHistoryRequest(sort=Order.DESCENDING), V2
    ),
)
refused(
    4000013,
    "a start behind the end",
    lambda: client.get_transaction_history(
        coins["transactionId"], None, TransactionHistoryRequest(startDate=2, endDate=1), V2
    ),
)

# Statuses.
statuses = client.get_all_subscription_statuses(pro["transactionId"])
last_transaction = statuses.data[0].lastTransactions[0]
hold(last_transaction.status == Status.ACTIVE, "statuses: not active")
hold(
    transaction(last_transaction.signedTransactionInfo).transactionId == pro["transactionId"],
    "statuses: another transaction",
)
renewal = verifier.verify_and_decode_renewal_info(last_transaction.signedRenewalInfo)
hold(renewal.autoRenewProductId == "pro.monthly", "statuses: another product")
filtered = client.get_all_subscription_statuses(pro["transactionId"], [Status.EXPIRED])
hold(filtered.data == [], "statuses: the filter lets an active one pass")

# Refunds and orders.
refunds = client.get_refund_history(coins["transactionId"], None)
hold(len(refunds.signedTransactions) == 1 and not refunds.hasMore, "refunds: not one")
hold(transaction(refunds.signedTransactions[0]).revocationDate is not None, "refunds: no date")
none = client.get_refund_history(coins["transactionId"], refunds.revision)
hold(none.signedTransactions == [], "refunds: a kept revision gives the old ones")
if is_production:
    order = client.look_up_order_id(coins["orderId"])
    hold(order.rawStatus == 0, "order: invalid")
    hold(
        transaction(order.signedTransactions[0]).transactionId == coins["transactionId"],
        "order: another transaction",
    )
hold(client.look_up_order_id("MXYZ").rawStatus == 1, "an unknown order is valid")

# Consumption, both versions.
call(f"/control/transactions/{every[2]}/request-refund", {})
client.send_consumption_information(
    every[2],
    ConsumptionRequest(
        customerConsented=True, sampleContentProvided=False,
        deliveryStatus=DeliveryStatus.DELIVERED, consumptionPercentage=50000,
    ),
)
sent = call(f"/control/transactions/{every[2]}/consumption")["consumption"]
hold(sent[0]["consumptionPercentage"] == 50000, "consumption was not kept")
refused(
    4000035,
    "consumption without consent",
    lambda: client.send_consumption_information(
        every[2],
        ConsumptionRequest(
            customerConsented=False, sampleContentProvided=False,
            deliveryStatus=DeliveryStatus.DELIVERED,
        ),
    ),
)
client.send_consumption_data(
    every[2],
    ConsumptionRequestV1(
        customerConsented=True, consumptionStatus=ConsumptionStatus.NOT_CONSUMED,
        platform=Platform.NON_APPLE, sampleContentProvided=False,
        deliveryStatus=DeliveryStatusV1.DELIVERED_AND_WORKING_PROPERLY, appAccountToken=TOKEN,
        accountTenure=AccountTenure.THIRTY_DAYS_TO_NINETY_DAYS,
        playTime=PlayTime.ONE_DAY_TO_FOUR_DAYS,
        lifetimeDollarsRefunded=LifetimeDollarsRefunded.ZERO_DOLLARS,
        lifetimeDollarsPurchased=LifetimeDollarsPurchased.ONE_CENT_TO_FORTY_NINE_DOLLARS_AND_NINETY_NINE_CENTS,
        userStatus=UserStatus.ACTIVE,
    ),
)

# Tokens of accounts.
client.set_app_account_token(pro["originalTransactionId"], UpdateAppAccountTokenRequest(OTHER))
changed = transaction(client.get_transaction_info(pro["transactionId"]).signedTransactionInfo)
hold(changed.appAccountToken == OTHER, "the token was not set")
renewed = call(f"/control/subscriptions/{pro['originalTransactionId']}/renew", {})
hold(renewed["appAccountToken"] == OTHER, "the renewal has the old token")
refused(
    4000187,
    "a token for a renewal",
    lambda: client.set_app_account_token(
        renewed["transactionId"], UpdateAppAccountTokenRequest(OTHER)
    ),
)
refused(
    4000183,
    "a token that is no UUID",
    lambda: client.set_app_account_token(
        pro["originalTransactionId"], UpdateAppAccountTokenRequest("mary")
    ),
)
family = buy("themes", "child", inAppOwnershipType="FAMILY_SHARED")
refused(
    4000185,
    "a token for a family member",
    lambda: client.set_app_account_token(
        family["originalTransactionId"], UpdateAppAccountTokenRequest(OTHER)
    ),
)

# Extensions.
plan = {"extendByDays": 30, "extendReasonCode": ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE}
extended = client.extend_subscription_renewal_date(
    pro["originalTransactionId"], ExtendRenewalDateRequest(requestIdentifier="one", **plan)
)
hold(extended.success, "the extension failed")
hold(
    extended.effectiveDate == renewed["expiresDate"] + 30 * 86400000, "the extension's new date"
)
client.extend_subscription_renewal_date(
    pro["originalTransactionId"], ExtendRenewalDateRequest(requestIdentifier="two", **plan)
)
refused(
    4030005,
    "a third extension",
    lambda: client.extend_subscription_renewal_date(
        pro["originalTransactionId"], ExtendRenewalDateRequest(requestIdentifier="x", **plan)
    ),
)
refused(
    4000009,
    "an extension by 91 days",
    lambda: client.extend_subscription_renewal_date(
        pro["originalTransactionId"],
        ExtendRenewalDateRequest(
            extendByDays=91, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier="x"
        ),
    ),
)
news = buy("pro.yearly", "john")
client.extend_renewal_date_for_all_active_subscribers(
    MassExtendRenewalDateRequest(
        productId="pro.yearly", requestIdentifier="all", storefrontCountryCodes=["USA"], **plan
    )
)
status = client.get_status_of_subscription_renewal_date_extensions("all", "pro.yearly")
hold(status.complete and status.succeededCount == 1 and status.failedCount == 0, f"{status}")
refused(
    4040009,
    "an unknown mass extension",
    lambda: client.get_status_of_subscription_renewal_date_extensions("no", "pro.yearly"),
)

# Test notification.
token = client.request_test_notification().testNotificationToken
for _ in range(200):
    try:
        tested = client.get_test_notification_status(token)
        break
    except APIException as error:
        hold(error.raw_api_error == 4040008, f"test notification: {error.raw_api_error}")
        time.sleep(0.05)
else:
    sys.exit("api_judge: the test notification was never tried")
decoded = verifier.verify_and_decode_notification(tested.signedPayload)
hold(decoded.notificationType == NotificationTypeV2.TEST, f"{decoded.rawNotificationType}")
hold(tested.sendAttempts[0].rawSendAttemptResult == "SUCCESS", "the test did not arrive")
refused(4000020, "a token that is none", lambda: client.get_test_notification_status("x"))

# Notification history: every notification, once, each accepted by Apple's verifier.
now = int(time.time() * 1000)
request = NotificationHistoryRequest(startDate=now - 3600000, endDate=now + 3600000)


def notifications(request):
    seen, token = [], None
    while True:
        page = client.get_notification_history(token, request)
        hold(len(page.notificationHistory) <= 20, "more than 20 notifications on a page")
        for item in page.notificationHistory:
            hold(1 <= len(item.sendAttempts) <= 6, "attempts")
            seen.append(verifier.verify_and_decode_notification(item.signedPayload))
        if not page.hasMore:
            return seen
        token = page.paginationToken


wanted = {
    entry["notificationUUID"] for entry in call("/control/notifications?limit=1000")["notifications"]
    if entry["state"] in ("delivered", "failed", "retrying")
}
for _ in range(200):
    # The last ones may still be on their way.
    if not call("/control/notifications?limit=1000&state=waiting")["notifications"]:
        break
    time.sleep(0.05)
seen = [notification.notificationUUID for notification in notifications(request)]
hold(len(seen) == len(set(seen)), "the history repeats a notification")
hold(wanted <= set(seen), f"the history lacks {wanted - set(seen)}")
one_type = NotificationHistoryRequest(
    startDate=now - 3600000, endDate=now + 3600000,
    notificationType=NotificationTypeV2.RENEWAL_EXTENDED,
)
hold(len(notifications(one_type)) == 3, "the history of one type")
summaries = [n for n in notifications(request) if n.summary is not None]
hold(len(summaries) == 1 and summaries[0].summary.succeededCount == 1, "the summary")
refused(
    4000012,
    "a history of long ago",
    lambda: client.get_notification_history(
        None, NotificationHistoryRequest(startDate=now - 200 * 86400000, endDate=now)
    ),
)
refused(
    4000014,
    "a pagination token that is none",
    lambda: client.get_notification_history("x", request),
)
refused(
    4000019,
    "two filters",
    lambda: client.get_notification_history(
        None,
        NotificationHistoryRequest(
            startDate=now - 1000, endDate=now, transactionId=every[2],
            notificationType=NotificationTypeV2.TEST,
        ),
    ),
)

# Receipts.
receipt = call(f"/control/transactions/{pro['transactionId']}/receipt")["receipt"]
found = ReceiptUtility().extract_transaction_id_from_app_receipt(receipt)
hold(found in every, f"the receipt utility finds {found}")
answer = call("/verifyReceipt", {"receipt-data": receipt})
hold(answer["status"] == 0, f"verifyReceipt: {answer['status']}")
hold(
    any(t["transaction_id"] == renewed["transactionId"] for t in answer["latest_receipt_info"]),
    "verifyReceipt does not show the renewal",
)
hold(call("/verifyReceipt", {"receipt-data": "MIIB"})["status"] == 21003, "a broken receipt")

# Faults on demand.
for fault, code in [
    ({"kind": "down"}, 503),
    ({"kind": "unauthorized"}, 401),
    ({"kind": "rate-limit"}, 4290000),
    ({"kind": "error", "errorCode": 5000001}, 5000001),
    ({"kind": "status", "status": 502}, 502),
]:
    call("/control/faults", fault | {"count": 1})
    refused(code, f"fault {fault}", lambda: client.get_transaction_info(coins["transactionId"]))
    client.get_transaction_info(coins["transactionId"])

# Every error code that Apple's library knows arrives as itself.
for known in APIError:
    call("/control/faults", {"kind": "error", "errorCode": known.value, "count": 1})
    refused(known.value, known.name, lambda: client.get_transaction_info(coins["transactionId"]))
print("api_judge: all endpoints hold")

# Every endpoint that Apple's client knows was driven; Retention Messaging is not played.
RETENTION = ("message", "image", "realtime_url", "performance_test")
left = {
    name
    for name in dir(AppStoreServerAPIClient)
    if not name.startswith("_") and not any(word in name for word in RETENTION)
} - driven
hold(not left, f"not driven: {sorted(left)}")
