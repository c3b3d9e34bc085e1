import json
import random as system_random
import re
import socket
from typing import Callable, List, Mapping, Optional, Type
from urllib.parse import urlencode, urlsplit

from .reading import Exchange, read_answer
from .redact import Redactor
from .shapes import NAMES, Json, read_as, read_customer, read_listing, read_page, read_result, shortest_amount
from .top_up import TopUp
from .transport import MAX_ANSWER_BYTES, Transport, send
from .values import Account, AccountEntry, Answer, Customer, Failure, Listed, OwnTopUp, PackageListing, Purchase
from .values import TopUpOutcome, TransactionResult, Value
from .waits import LONGEST_BACK_OFF_MS, Clock, back_off_ms, slept_before

_HELPFUL_HEADERS = ("content-type", "date", "idempotent-replayed", "retry-after", "www-authenticate", "x-request-id")


class Client:
    """The interface and topupd's reports. Failures are returned; only wrong arguments are raised, as ValueError."""

    def __init__(
        self,
        base: str,
        token: str,
        *,
        timeout_ms: int = 30_000,
        repeats_are_safe: bool = False,
        transport: Transport = send,
        clock: Optional[Clock] = None,
        random: Callable[[], float] = system_random.random,
    ) -> None:
        _require(re.fullmatch("[!-~]+", token), "token must be the access token alone: visible ASCII without blanks")
        _require(timeout_ms > 0, "timeout_ms must be more than 0")
        _require_url(base)
        self._base = base.rstrip("/")
        self._version = self._base.rpartition("/")[2]
        _require(self._version in ("v1.0.1", "v1.0.0"), "base must end with v1.0.1 or v1.0.0")
        self._timeout_ms = timeout_ms
        self._repeats_are_safe = repeats_are_safe
        self._transport = transport
        self._clock = clock or Clock()
        self._random = random
        self._token = token
        self._redactor = Redactor(token)

    def look_up_customer(self, code: str) -> Answer[Customer]:
        """Finds a customer by mobile number, customer id, set-top box number or username."""
        return self._ask("get-customer-information", {"code": code}, lambda body: read_customer(body, self._version))

    def list_packages(self, *, cuid: str, service: str, req_id: str) -> Answer[PackageListing]:
        """Lists the subscriptions of a connection, the bouquets on offer, and a checkout_id."""
        asked = {"cuid": cuid, "service": service, "reqId": req_id}
        return self._ask("get-subscription-package", asked, lambda body: read_listing(body, self._version, asked))

    def query_transaction(self, checkout_id: str) -> Answer[TransactionResult]:
        """Finds the top-up that was made with a checkout_id."""
        return self._result("txn-status", _checked({"checkoutId": checkout_id}), self._timeout_ms)

    def get_account(self) -> Answer[Account]:
        """Gets your balance, commission rules and limits. The balance can be some seconds old."""
        return self._ask("partner/account", {}, lambda body: read_as(Account, body))

    def list_account_entries(self, from_day: str, to_day: str) -> Answer[Listed[AccountEntry]]:
        """Lists the entries of your account of some days, oldest first: all pages, or a failure."""
        return self._list("partner/account/entries", {"from": from_day, "to": to_day}, AccountEntry)

    def list_top_ups(self, from_day: str, to_day: str) -> Answer[Listed[OwnTopUp]]:
        """Lists your top-ups of some days, oldest first: all pages, or a failure."""
        return self._list("partner/top-ups", {"from": from_day, "to": to_day}, OwnTopUp)

    def find_top_ups(self, udf1: str) -> Answer[Listed[OwnTopUp]]:
        """Finds your top-ups of any day with this udf1, oldest first: all pages, or a failure."""
        return self._list("partner/top-ups", {"udf1": udf1}, OwnTopUp)

    def top_up(self, purchase: Purchase, *, resumed: bool = False, give_up_after_ms: int = 480_000) -> TopUpOutcome:
        """Tops up, and asks txn-status if the answer is lost. topupd always gives the outcome in the default time.

        Save the purchase first. After a restart, call this with the same purchase and `resumed=True`.
        """
        wire = self._to_wire(purchase)
        _require(give_up_after_ms > 0, "give_up_after_ms must be more than 0")
        order = TopUp(wire, self._repeats_are_safe, resumed)
        try:
            return self._carry_out(order, wire, "query" if resumed else "send", give_up_after_ms)
        except Exception:
            # An unexpected error in the clock or the random source. A request may have been sent.
            order.is_open = True
            return order.give_up(LONGEST_BACK_OFF_MS)

    def _carry_out(self, order: TopUp, wire: Mapping[str, str], do: str, give_up_after_ms: int) -> TopUpOutcome:
        ends_at = self._clock.monotonic_ms() + give_up_after_ms
        waits = 0
        while True:
            timeout_ms = min(self._timeout_ms, ends_at - self._clock.monotonic_ms())
            if do == "send":
                move = order.after_top_up(self._result("subscription-package-topup", wire, timeout_ms))
            else:
                move = order.after_query(self._result("txn-status", {"checkoutId": wire["checkoutId"]}, timeout_ms))
            if isinstance(move, TopUpOutcome):
                return move
            do, wait_ms = move
            waits += 1
            if not slept_before(ends_at, self._clock, max(wait_ms, back_off_ms(waits, self._random))):
                return order.give_up(max(wait_ms, LONGEST_BACK_OFF_MS))

    def _list(self, operation: str, asked: Mapping[str, str], kind: Type[Value]) -> Answer[Listed[Value]]:
        query = asked
        items: List[Value] = []
        opening = None
        while True:
            answer = self._ask(operation, query, lambda body: read_page(kind, body, asked, query.get("cursor")))
            if answer.value is None:
                return Answer(failure=answer.failure)
            page, cursor = answer.value
            items += page.items
            opening = opening or page.opening
            if cursor is None:
                return Answer(Listed(items, opening), request_id=answer.request_id)
            query = {"cursor": cursor}

    def _ask(self, operation: str, request: Mapping[str, str], read: Callable[[Json], Value]) -> Answer[Value]:
        """Sends what changes nothing, and once more if a busy deployment asks for that."""
        ends_at = self._clock.monotonic_ms() + self._timeout_ms
        answer = self._call(operation, _checked(request), self._timeout_ms, read)
        failure = answer.failure
        # A long list may exceed the rate limit.
        busy = (429, 503) if operation.startswith("partner/") else (503,)
        if failure is None or failure.http_status not in busy or failure.retry_after_ms == 0:
            return answer
        if not slept_before(ends_at, self._clock, failure.retry_after_ms):
            return answer
        return self._call(operation, request, ends_at - self._clock.monotonic_ms(), read)

    def _result(self, operation: str, request: Mapping[str, str], timeout_ms: int) -> Answer[TransactionResult]:
        return self._call(operation, request, timeout_ms, lambda body: read_result(body, request["checkoutId"]))

    def _call(
        self, operation: str, request: Mapping[str, str], timeout_ms: int, read: Callable[[Json], Value]
    ) -> Answer[Value]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            is_report = operation.startswith("partner/")
            path = f"{operation}?{urlencode(request)}".rstrip("?") if is_report else operation
            body = None if is_report else json.dumps(request).encode()
            status, received, content = self._transport(f"{self._base}/{path}", headers, body, timeout_ms)
            kept = {name: self._redactor.text(received[name]) for name in _HELPFUL_HEADERS if name in received}
        except Exception as error:
            is_late = isinstance(error, (TimeoutError, socket.timeout))
            message = "No answer came in time." if is_late else "The connection failed before a whole answer came."
            cause = self._redactor.text(f"{type(error).__name__}: {error}")
            why = "timeout" if is_late else "network"
            return Answer(failure=Failure("no_answer", operation, message, why=why, cause=cause))
        try:
            text = content.decode("utf-8-sig") if len(content) <= MAX_ANSWER_BYTES else None
        except UnicodeDecodeError:
            text = None
        return read_answer(Exchange(operation, status, kept, text, self._clock.now_ms()), self._redactor, read)

    def _to_wire(self, purchase: Purchase) -> Mapping[str, str]:
        wire = {"cuid": purchase.cuid, "service": purchase.service, "reqId": purchase.req_id}
        wire.update(checkoutId=purchase.checkout_id, bouquetId=purchase.bouquet_id, amt=purchase.amt)
        _require(shortest_amount(_checked(wire)["amt"]), 'amt must be plain decimal text of at most 15 digits')
        for name, text in (("udf1", purchase.udf1), ("udf2", purchase.udf2)):
            if text is not None:
                _require(self._version != "v1.0.0", f"{name} does not exist in v1.0.0")
                _require(isinstance(text, str) and len(text) <= 30, f"{name} must be text of at most 30 characters")
                wire[name] = text
        return wire


def _require(holds: object, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _require_url(text: str) -> None:
    parts = urlsplit(text)
    is_plain = re.fullmatch("https?://[!-~]+", text) and not re.search("[?#@]", text)
    _require(is_plain and parts.hostname and parts.port != 0, "base must be http or https, without user or query")


def _checked(request: Mapping[str, str]) -> Mapping[str, str]:
    for name, text in request.items():
        _require(isinstance(text, str) and text, f"{name} must be text that is not empty")
    _require(request.get("service", "tv") in NAMES, "service must be tv, internet or iptv")
    return request
