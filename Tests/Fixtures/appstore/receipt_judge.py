"""Lets Apple's own receipt utility read receipts: receipt_judge.py <file>

Each line of the file is `app <text>` or `transaction <text>`; a line with the id, `none` or `refused` is
printed for each.
"""

import sys

from appstoreserverlibrary.receipt_utility import ReceiptUtility

utility = ReceiptUtility()
with open(sys.argv[1]) as file:
    for line in file:
        kind, text = line.split()
        try:
            if kind == "app":
                found = utility.extract_transaction_id_from_app_receipt(text)
            else:
                found = utility.extract_transaction_id_from_transaction_receipt(text)
            print(found or "none")
        except ValueError:
            print("refused")
