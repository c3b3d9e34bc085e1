"""Tops up each connection of the practice customer, and prints the list for the provider's report.

Set BASE and TOKEN (a trial token). It takes about three minutes, since some faults take time.
"""
import os
import sys
import time

from topupd_client import Client, Purchase

LISTED = {"topped_up": "paid", "refused": "refunded", "never_topped_up": "refunded", "undecided": "open"}
REVERSED_AFTER_SECONDS = 15

client = Client(os.environ["BASE"], os.environ["TOKEN"])


def value_of(answer):
    if answer.value is None:
        sys.exit(answer.failure.message)
    return answer.value


def top_up(cuid, req_id):
    listed = value_of(client.list_packages(cuid=cuid, service="internet", req_id=req_id))
    bouquet = listed.bouquets[0]
    purchase = Purchase(
        cuid=cuid,
        service="internet",
        req_id=req_id,
        checkout_id=listed.checkout_id,
        bouquet_id=bouquet.code,
        amt=bouquet.price,
    )
    return listed.checkout_id, client.top_up(purchase).outcome


def reconciled(checkout_id, outcome):
    """The outcome for the list: the provider can have reversed a top-up since."""
    if outcome == "topped_up" and value_of(client.query_transaction(checkout_id)).status == "reversed":
        return "refunded"
    return LISTED[outcome]


customer = value_of(client.look_up_customer("1000010"))
orders = []
for connection in customer.connections["internet"]:
    print(f"practising {connection.req_id}", file=sys.stderr)
    orders.append((connection.req_id, *top_up(customer.cuid, connection.req_id)))
time.sleep(REVERSED_AFTER_SECONDS)
print("order,checkoutId,outcome")
for order, checkout_id, outcome in orders:
    print(f"{order},{checkout_id},{reconciled(checkout_id, outcome)}")
