"""Signs offers as Apple's own library does, and judges by it what Purser signed.

Reads a file of JSON: the key, the fields, and Purser's signatures. Writes Apple's signatures as JSON, or
ends with an error that names what differs. Apple publishes no known answers; its library is the nearest
there is.
"""

import base64
import json
import sys
import uuid

import jwt
from appstoreserverlibrary.jws_signature_creator import (
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.hashes import SHA256

with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)

pem = given["key"].encode()
public = serialization.load_pem_private_key(pem, password=None).public_key()
ids = {"signing_key": pem, "key_id": given["keyId"], "bundle_id": given["bundleId"]}


class Recorder:
    """Stands in for the key and keeps what Apple's library would have signed."""

    def sign(self, payload, algorithm):
        self.payload = payload
        return b""


def old(account):
    creator = PromotionalOfferSignatureCreator(**ids)
    arguments = (
        given["productId"], given["offerId"], account, uuid.UUID(given["nonce"]), given["timestamp"],
    )
    signature = creator.create_signature(*arguments)
    creator._signing_key = recorder = Recorder()
    creator.create_signature(*arguments)
    return signature, recorder.payload


def same(ours, theirs, audience):
    """Both verify under the key, with the same header and the same claims but for time and nonce."""
    read = [
        jwt.decode(
            text, public, algorithms=["ES256"], audience=audience, options={"verify_iat": False})
        for text in (ours, theirs)
    ]
    for claims in read:
        uuid.UUID(claims.pop("nonce"))
        assert isinstance(claims.pop("iat"), int)
    assert read[0] == read[1], (read[0], read[1])
    headers = [jwt.get_unverified_header(text) for text in (ours, theirs)]
    assert headers[0] == headers[1], headers


answers = {"old": []}
for one in given["old"]:
    signature, payload = old(one["account"])
    public.verify(base64.b64decode(one["signature"]), payload, ECDSA(SHA256()))
    answers["old"].append({"signature": signature, "payload": base64.b64encode(payload).decode()})

promotional = PromotionalOfferV2SignatureCreator(**ids, issuer_id=given["issuerId"])
introductory = IntroductoryOfferEligibilitySignatureCreator(**ids, issuer_id=given["issuerId"])
answers["promotional"] = [
    promotional.create_signature(given["productId"], given["offerId"], id) for id in (None, "7001")
]
answers["introductory"] = [
    introductory.create_signature(given["productId"], allowed, "7001") for allowed in (True, False)
]
for name, audience in [
    ("promotional", "promotional-offer"), ("introductory", "introductory-offer-eligibility"),
]:
    for ours, theirs in zip(given[name], answers[name], strict=True):
        same(ours, theirs, audience)
print(json.dumps(answers))
