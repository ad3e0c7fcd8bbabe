"""Verifies and decodes signed transactions with Apple's own library, offline, on one core.

Prints how many a second of CPU time. Offline is how it can run without Apple's OCSP server; then the
library verifies the whole chain each time.
"""

import sys
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

root, signed, bundle_id, seconds = sys.argv[1:]
with open(root, "rb") as file:
    verifier = SignedDataVerifier([file.read()], False, Environment.SANDBOX, bundle_id)
with open(signed) as file:
    texts = file.read().split("\n")

count = 0
began = time.thread_time()
while time.thread_time() - began < float(seconds):
    verifier.verify_and_decode_signed_transaction(texts[count % len(texts)])
    count += 1
print(count / (time.thread_time() - began))
