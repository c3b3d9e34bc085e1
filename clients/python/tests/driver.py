"""Makes one call for each line of standard input, and prints its outcome and waits as a line of JSON.

The lines are made from contract/client-vectors.json.
"""

import dataclasses
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from topupd_client import Client, Clock, Purchase  # noqa: E402


class RecordingClock(Clock):
    """Time passes only by waits, which take none."""

    def __init__(self, start_ms):
        self._now_ms = start_ms
        self.waits_ms = []

    def now_ms(self):
        return self._now_ms

    def monotonic_ms(self):
        return self._now_ms

    def sleep_ms(self, ms):
        self.waits_ms.append(ms)
        self._now_ms += ms


def snake(values):
    return {re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name): value for name, value in values.items()}


def camel(value):
    if dataclasses.is_dataclass(value):
        return camel({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, dict):
        items = {re.sub("_(.?)", lambda match: match[1].upper(), name): camel(item) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not None}
    return [camel(item) for item in value] if isinstance(value, (list, tuple)) else value


def call(line):
    clock = RecordingClock(line["nowMs"])
    try:
        client = Client(clock=clock, random=lambda: 0.999_999, **snake(line["options"]))
        values = snake(line["with"])
        if line["do"] == "topUp":
            limits = {name: line[name] for name in ("resumed", "giveUpAfterMs") if name in line}
            result = client.top_up(Purchase(**values), **snake(limits))
        elif line["do"] == "lookUpCustomer":
            result = client.look_up_customer(**values)
        elif line["do"] == "listPackages":
            result = client.list_packages(**values)
        elif line["do"] == "queryTransaction":
            result = client.query_transaction(**values)
        else:
            result = getattr(client, *snake({line["do"]: None}))(*values.values())
    except ValueError as error:
        return {"outcome": {"raised": str(error)}, "waitsMs": clock.waits_ms, "shown": repr(error)}
    return {"outcome": camel(result), "waitsMs": clock.waits_ms, "shown": repr(result) + repr(client)}


for text in sys.stdin:
    print(json.dumps(call(json.loads(text))), flush=True)
