"""Reads the bodies of successes. A value that differs from the interface is refused."""

import re
from dataclasses import fields
from decimal import Decimal
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type

from .values import AccountLimits, Amount, Bouquet, CommissionRule, Connection, Customer, Listed, PackageListing, Signed
from .values import Subscription, Text, TransactionResult, Value

Json = Mapping[str, Any]
# Fields that name a connection.
NAMES = {"tv": ("stb",), "internet": ("username",), "iptv": ("username", "stb")}


class WrongShape(Exception):
    """The message names the field, never its value."""


def _field(what: str, accepts: Callable[[Any], bool]) -> Callable[[Json, str], Any]:
    def read(parent: Json, name: str) -> Any:
        if not accepts(parent.get(name)):
            raise WrongShape(f"{name}: not {what}")
        return parent[name]

    return read


_object = _field("an object", lambda value: isinstance(value, dict))
_list = _field("a list of objects", lambda value: isinstance(value, list) and all(isinstance(i, dict) for i in value))
_text = _field("text", lambda value: isinstance(value, str))
_identifier = _field("an identifier", lambda value: isinstance(value, str) and value != "")


def shortest_amount(text: str) -> Optional[str]:
    """The shortest form, so that equal amounts are equal; None if it is no plain decimal, or not exact as a number."""
    match = re.fullmatch(r"0*([0-9]+?)(?:\.(?=[0-9])([0-9]*?)0*)?", text) if len(text) <= 40 else None
    amount = "" if match is None else f"{match[1]}.{match[2]}" if match[2] else match[1]
    return amount if 0 < len(amount.replace(".", "")) <= 15 else None


def read_amount(value: Any) -> Optional[str]:
    """Reads a JSON number, or text if a deployment sends it. None if it is not exact."""
    text = str(value) if type(value) in (int, str) else ""
    amount = shortest_amount(text)
    # Some programs write a double with an exponent, or with too many digits: 2847.1500000000001 is 2847.15.
    if amount is None and len(text) <= 18 and re.fullmatch(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?", text):
        amount = shortest_amount(format(Decimal(repr(float(text))), "f"))
    return amount


def _amount(parent: Json, name: str) -> str:
    amount = read_amount(parent.get(name))
    if amount is None:
        raise WrongShape(f"{name}: not an exact amount")
    return amount


def _signed(parent: Json, name: str) -> str:
    text = str(parent.get(name))
    return f"-{_amount({name: text[1:]}, name)}" if text.startswith("-") else _amount(parent, name)


def _or_none(read: Callable[[Json, str], Any]) -> Callable[[Json, str], Any]:
    return lambda parent, name: None if parent.get(name, 0) is None else read(parent, name)


_count = _field("a whole number", lambda value: type(value) is int)
# How to read a field of a dataclass, by its type.
_READERS: Dict[Any, Callable[[Json, str], Any]] = {
    **{str: _identifier, Text: _text, Amount: _amount, Signed: _signed, int: _count},
    **{Optional[Text]: _or_none(_text), Optional[Amount]: _or_none(_amount), Optional[Signed]: _or_none(_signed)},
    Optional[int]: _or_none(_count),
    Sequence[CommissionRule]: lambda parent, name: [read_as(CommissionRule, item) for item in _list(parent, name)],
    AccountLimits: lambda parent, name: read_as(AccountLimits, _object(parent, name)),
}


def read_as(kind: Type[Value], item: Json) -> Value:
    """The names of the interface are those of the dataclass in camel case."""
    names = {each: re.sub("_(.?)", lambda match: match[1].upper(), each.name) for each in fields(kind)}  # type: ignore
    return kind(**{each.name: _READERS[each.type](item, name) for each, name in names.items()})


def read_page(kind: Type[Value], body: Json, asked: Json, cursor: Optional[str]) -> Tuple[Listed[Value], Optional[str]]:
    """A page of other days, or one that leads to itself, is refused: a proxy may have stored it."""
    after = _or_none(_text)(body, "next")
    if any(body.get(name) != asked.get(name) for name in ("from", "to")) or after == (cursor or ""):
        raise WrongShape("from, to, next: this is another page")
    opening = _signed(body, "opening") if "opening" in body else None
    return Listed([read_as(kind, item) for item in _list(body, "items")], opening), after


def read_customer(body: Json, version: str) -> Customer:
    """The `connection` is beside the `customer` in v1.0.0."""
    customer = _object(body, "customer")
    listed = _object(customer, "connections") if version == "v1.0.1" else _object(body, "connection")
    return _customer(customer, {service: _connections(listed, service) for service in NAMES})


def read_listing(body: Json, version: str, asked: Mapping[str, str]) -> PackageListing:
    """A listing of another customer or connection is refused: its checkoutId would top up another customer."""
    service, req_id = asked["service"], asked["reqId"]
    listing = _object(body, service)
    customer = _customer(_object(body, "customer"), {})
    if customer.cuid != asked["cuid"]:
        raise WrongShape("cuid: the listing is of another customer")
    shown = _object(listing, "connection")
    # An iptv connection may have both names, and the request may use either; the interface does not show its fields.
    if _connection(shown, service) and req_id not in [shown.get(name) for name in NAMES[service]]:
        raise WrongShape("connection: the listing is of another connection")
    price = "price" if version == "v1.0.1" else "amt"
    return PackageListing(
        _identifier(body, "checkoutId"),
        customer,
        service,
        Connection(req_id, _text(shown, "status")),
        [read_as(Subscription, item) for item in _list(listing, "subscriptions")],
        [
            Bouquet(_identifier(item, "code"), _text(item, "name"), _amount(item, price))
            for item in _list(listing, "bouquets")
        ],
    )


def read_result(body: Json, checkout_id: str) -> TransactionResult:
    result = _object(body, "result")
    if _identifier(result, "orderId") != checkout_id:
        raise WrongShape("orderId: the result is of another checkoutId")
    return read_as(TransactionResult, result)


def _customer(customer: Json, connections: Mapping[str, Sequence[Connection]]) -> Customer:
    names = _text(customer, "first_name"), _text(customer, "last_name")
    return Customer(_identifier(customer, "cuid"), *names, _text(customer, "status"), connections)


def _connections(connections: Json, service: str) -> List[Connection]:
    """A deployment without a service may omit its list: digital TV exists only since v1.0.1."""
    items = [] if connections.get(service) is None else _list(connections, service)
    return [found for found in (_connection(item, service) for item in items) if found is not None]


def _connection(item: Json, service: str) -> Optional[Connection]:
    """None for an iptv item without a known name: the interface does not show one, and the others must be read."""
    name = next((name for name in NAMES[service] if name in item), None)
    if name is None and service == "iptv":
        return None
    return Connection(_identifier(item, name or NAMES[service][0]), _text(item, "status"))
