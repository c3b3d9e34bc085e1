from typing import Mapping, Optional, Tuple, Union

from .shapes import shortest_amount
from .values import Answer, Failure, Next, TopUpOutcome, TransactionResult

# A refusal in a deployment's own terms may mean "not yet". It counts after txn-status has confirmed it at once, and
# again when open requests should have arrived.
_CONFIRMATIONS = 2
_CONFIRMED_AFTER_MS = 30_000
# A refusal names no checkoutId, so it may belong to another purchase while this one is being recorded. After this time
# the record is usually there.
_REFUSAL_CONFIRMED_AFTER_MS = 1_000
# Reasons that a query never gets: it names no bouquet, amount or customer, and may be late.
_OF_TOP_UPS_ONLY = (
    "customer_not_found ambiguous_code connection_not_found customer_inactive connection_blocked "
    "checkout_expired checkout_used checkout_mismatch bouquet_unavailable amount_mismatch insufficient_balance "
    "limit_reached"
).split()
# Request timeout, conflict, and a proxy that lost its caller: the request may have been served.
_OPEN_STATUSES = (408, 409, 499)

# "send" or "query" after milliseconds, or the end.
Move = Union[Tuple[str, int], TopUpOutcome]


class TopUp:
    """Decides the next step of a top-up.

    Two laws: only a recorded result with this purchase's values is a success; a refusal counts only if no request of
    this purchase can be open, and after txn-status has confirmed it.
    """

    def __init__(self, wire: Mapping[str, str], repeats_are_safe: bool, resumed: bool) -> None:
        self._wire = wire
        self._repeats_are_safe = repeats_are_safe  # Whether the deployment repeats the first result.
        self.is_open = resumed  # Whether a request may have been recorded, or still may be. Once true, it stays true.
        self._was_claimed = False  # Whether there was a result that is not, or not yet, this purchase's success.
        self._was_used_otherwise = False  # Whether topupd said that the checkoutId is used with other values.
        self._was_repeat_refused = False  # A further repeat brings nothing new.
        self._said_never = False  # never_topped_up names no checkoutId, so it counts only when said twice.
        self._to_confirm: Optional[Failure] = None  # The refusal that txn-status must still confirm.
        self._confirmed = 0
        self._last_failure: Optional[Failure] = None

    def after_top_up(self, answer: Answer[TransactionResult]) -> Move:
        """The move after an answer to subscription-package-topup, or after none."""
        failure = answer.failure
        if failure is None:
            return self._after_result(answer, "subscription-package-topup", answer.replayed)
        if _leaves_open(failure):
            self.is_open = True
            self._was_used_otherwise |= failure.reason == "checkout_used"
            return self._wait("query", failure)
        # topupd itself says that it did not process the request.
        if failure.reason == "rate_limited":
            return self._wait("query" if self.is_open else "send", failure)
        # The unanswered request before it may still reach the deployment.
        if self.is_open:
            self._was_repeat_refused = True
            return self._wait("query", failure)
        self._to_confirm = failure
        return self._wait("query", failure, _REFUSAL_CONFIRMED_AFTER_MS if failure.kind == "refused" else 0)

    def after_query(self, answer: Answer[TransactionResult]) -> Move:
        """The move after an answer to txn-status, or after none."""
        failure = answer.failure
        if failure is None:
            return self._after_result(answer, "txn-status", True)
        refusal = None if self.is_open else self._to_confirm
        if refusal is not None and _agrees(failure, refusal):
            return TopUpOutcome("refused", failure=refusal)
        if failure.reason in _OF_TOP_UPS_ONLY:
            self._said_never = False
            return self._wait("query", failure)
        if _locks_out(failure):
            return self._undecided("fix_request", failure)
        if failure.reason == "never_topped_up":
            if self._was_claimed or self._was_used_otherwise:
                return self._undecided("ask_provider", failure)
            if self._said_never:
                return TopUpOutcome("never_topped_up", failure=failure)
            self._said_never = True
            return self._wait("query", failure)
        if _asks_to_wait(failure):
            return self._wait("query", failure)
        self._said_never = False
        may_repeat = not self._was_repeat_refused and not self._was_claimed
        if failure.reason == "not_topped_up":
            # The deployment is topupd: repeats are safe, and the refusal in other terms was not its own.
            self.is_open = True
            return self._wait("send" if may_repeat else "query", failure)
        if failure.kind == "refused":
            # A recorded top-up gets checkout_unknown too, with another partner's access token.
            is_unknown = failure.reason == "checkout_unknown"
            return self._undecided("ask_provider" if is_unknown else "fix_request", failure)
        if refusal is not None:
            self._confirmed += 1
            if self._confirmed == _CONFIRMATIONS:
                return TopUpOutcome("refused", failure=refusal)
            return self._wait("query", failure, _CONFIRMED_AFTER_MS)
        return self._wait("send" if may_repeat and self.is_open and self._repeats_are_safe else "query", failure)

    def give_up(self, after_ms: int) -> TopUpOutcome:
        """The outcome if the time is up."""
        failure = self._last_failure
        if not self.is_open and self._to_confirm is None and failure is not None:
            return TopUpOutcome("refused", failure=failure)
        # A deployment that only refuses in its own terms will continue to do so.
        is_in_vain = failure is not None and failure.kind == "refused_otherwise" and not _asks_to_wait(failure)
        return self._undecided("ask_provider" if is_in_vain else "query_again", failure, after_ms)

    def _after_result(self, answer: Answer[TransactionResult], operation: str, replayed: bool) -> Move:
        assert answer.value is not None
        doubt = self._doubt_of(answer.value, operation)
        if doubt is None:
            return TopUpOutcome("topped_up", answer.value, replayed)
        if operation != "txn-status" or doubt.kind == "unsettled":
            self.is_open = self._was_claimed = True
            return self._wait("query", doubt)
        # Unless topupd says so, the values may be this purchase's in another form, such as a fee in the amount.
        if self._was_used_otherwise and not self._was_claimed:
            return TopUpOutcome("refused", failure=doubt)
        return self._undecided("ask_provider", doubt)

    def _doubt_of(self, result: TransactionResult, operation: str) -> Optional[Failure]:
        """Why a result is not this purchase's top-up; None if it is."""
        purchased = [self._wire[name] for name in ("cuid", "service", "reqId", "bouquetId")]
        purchased.append(shortest_amount(self._wire["amt"]) or "")
        recorded = (result.cuid, result.service, result.req_id, result.bouquet_id, result.amt)
        names = ("cuid", "service", "req_id", "bouquet_id", "amt")
        differs = [name for name, one, other in zip(names, purchased, recorded) if one != other]
        if differs:
            message = f"A top-up with this checkoutId is on record, with another {', '.join(differs)}."
            return Failure("used_otherwise", operation, message, recorded=result, differs=differs)
        if result.status in ("success", "reversed"):
            return None
        return Failure("unsettled", operation, "The recorded result has a status that is not known.", recorded=result)

    def _undecided(self, do: str, failure: Optional[Failure], after_ms: int = 0) -> TopUpOutcome:
        wait_ms = max(after_ms, failure.retry_after_ms if failure else 0)
        return TopUpOutcome("undecided", failure=failure, next=Next(do, self._wire["checkoutId"], wait_ms))

    def _wait(self, do: str, failure: Failure, least_ms: int = 0) -> Move:
        self._last_failure = failure
        return do, max(least_ms, failure.retry_after_ms)


def _leaves_open(failure: Failure) -> bool:
    """Whether a top-up with this failure may have been recorded, or still may be."""
    if failure.kind not in ("refused", "refused_otherwise"):
        return True
    # An answer outside the envelope comes from a proxy, which may have forwarded the request.
    if failure.kind == "refused_otherwise" and not failure.in_envelope:
        return failure.http_status != 429
    if failure.retry == "query_status" or failure.http_status >= 500 or failure.reason == "never_topped_up":
        return True
    return failure.kind == "refused_otherwise" and failure.http_status in _OPEN_STATUSES


def _agrees(failure: Failure, refusal: Failure) -> bool:
    """Whether topupd's answer to txn-status and its refusal of the top-up together prove that nothing is recorded.

    A failure of every request, such as a refused access token, is confirmed by the same failure of txn-status.
    """
    if failure.kind != "refused" or refusal.kind != "refused" or failure.reason == "checkout_unknown":
        return False
    if failure.reason in ("not_topped_up", "never_topped_up") or (_locks_out(failure) and _locks_out(refusal)):
        return True
    return failure.reason == refusal.reason and failure.reason not in _OF_TOP_UPS_ONLY


def _asks_to_wait(failure: Failure) -> bool:
    """Whether txn-status may give another answer soon."""
    return failure.reason != "not_topped_up" and (_leaves_open(failure) or failure.http_status == 429)


def _locks_out(failure: Failure) -> bool:
    """Whether the deployment refuses every request of this caller."""
    return failure.http_status in (401, 403) and failure.reason not in _OF_TOP_UPS_ONLY
