"""Turns answers into values and failures. An answer is a value only if status, success, code and every field agree."""

import json
from typing import Any, Callable, Mapping, NamedTuple, Optional

from .redact import Redactor
from .shapes import Json, WrongShape, read_amount
from .values import Answer, Failure, Value
from .waits import read_retry_after

# HTTP status, reason and usual next action of each failure that topupd documents.
_KNOWN = {
    "400ac001": (401, "missing_token", "fix_request"), "400ac002": (401, "unknown_token", "no"),
    "400ac003": (401, "expired_token", "no"), "400ac004": (401, "revoked_token", "no"),
    "400ac005": (403, "partner_suspended", "no"), "400ac006": (429, "rate_limited", "same_request"),
    "400ac007": (403, "address_not_allowed", "no"), "400ad001": (400, "malformed_json", "fix_request"),
    "400ad002": (400, "invalid_field", "fix_request"), "400ad003": (404, "unknown_operation", "fix_request"),
    "400ad004": (405, "method_not_allowed", "fix_request"), "400ad005": (413, "body_too_large", "fix_request"),
    "400ad006": (415, "unsupported_media_type", "fix_request"), "400aa101": (404, "customer_not_found", "no"),
    "400aa102": (409, "ambiguous_code", "fix_request"), "400aa103": (404, "connection_not_found", "no"),
    "400aa104": (422, "customer_inactive", "no"), "400aa105": (422, "connection_blocked", "no"),
    "400ab101": (404, "checkout_unknown", "fix_request"), "400ab102": (410, "checkout_expired", "new_checkout"),
    "400ab103": (409, "checkout_used", "query_status"), "400ab104": (422, "checkout_mismatch", "new_checkout"),
    "400ab105": (422, "bouquet_unavailable", "new_checkout"), "400ab106": (422, "amount_mismatch", "fix_request"),
    "400ab107": (404, "not_topped_up", "query_status"), "400ab108": (410, "never_topped_up", "new_checkout"),
    "400ab109": (402, "insufficient_balance", "new_checkout"), "400ab110": (403, "limit_reached", "no"),
    "400ae001": (500, "internal_error", "query_status"), "400ae002": (503, "unavailable", "same_request"),
}
_RETRIES = ("fix_request", "same_request", "new_checkout", "query_status", "no")


class Exchange(NamedTuple):
    operation: str
    status: int
    headers: Mapping[str, str]
    text: Optional[str]  # None if the bytes are no UTF-8, or too many.
    now_ms: int


def read_answer(answer: Exchange, redactor: Redactor, read: Callable[[Json], Value]) -> Answer[Value]:
    parsed = _parse(answer.text)
    envelope = parsed if isinstance(parsed, dict) else {}
    body = envelope["body"] if isinstance(envelope.get("body"), dict) else {}
    code, retry = envelope.get("code"), body.get("retry")
    said_id = body.get("requestId")
    request_id = answer.headers.get("x-request-id", redactor.text(said_id) if isinstance(said_id, str) else None)
    hidden = redactor.json(answer.text if parsed is None else parsed)
    shown = hidden[:4_000] if isinstance(hidden, str) else hidden

    def failed(kind: str, message: object, **more: Any) -> Answer[Value]:
        sentence = message if isinstance(message, str) else f"The answer says no: HTTP {answer.status}."
        more["retry_after_ms"] = read_retry_after(answer.headers.get("retry-after", ""), answer.now_ms)
        more.update(http_status=answer.status, headers=answer.headers, request_id=request_id)
        return Answer(failure=Failure(kind, answer.operation, redactor.text(sentence), **more))

    if envelope.get("success") is True:
        success_code = {"get": "400aa010", "par": "400ac010"}.get(answer.operation[:3], "400ab001")
        if not 200 <= answer.status < 300 or code != success_code:
            return failed("unreadable", "The answer says success, but its status or its code does not.", body=shown)
        try:
            value = read(body)
        except WrongShape as error:
            return failed("unreadable", f"The answer has another shape than the interface: {error}.", body=shown)
        replayed = answer.headers.get("idempotent-replayed") == "true"
        return Answer(value, request_id=request_id, replayed=replayed)
    in_envelope = envelope.get("success") is False
    if not in_envelope and answer.status < 400:
        return failed("unreadable", "The answer is not in the envelope.", body=shown)
    if parsed is None and "json" in answer.headers.get("content-type", ""):
        return failed("unreadable", "The answer is broken JSON.", body=shown)
    known = _KNOWN.get(code) if isinstance(code, str) else None
    # Another deployment may use topupd's codes with another meaning.
    if in_envelope and known is not None and known[:2] == (answer.status, body.get("reason")):
        said: Any = {"code": code, "reason": known[1], "retry": retry if retry in _RETRIES else known[2]}
        said.update(fields=redactor.json(body.get("fields")), limit=redactor.json(body.get("limit")))
        said.update(limit_ends_at=redactor.json(body.get("limitEndsAt")), missing=read_amount(body.get("missing")))
        return failed("refused", body.get("message"), in_envelope=True, **said)
    shown_code = redactor.text(code) if isinstance(code, str) else None
    said = {"code": shown_code, "retry": retry if retry in _RETRIES else None}
    return failed("refused_otherwise", body.get("message"), in_envelope=in_envelope, body=shown, **said)


def _parse(text: Optional[str]) -> Any:
    """Parsed JSON, or None. A number with decimals or many digits becomes text: a float could silently change it."""
    try:
        return json.loads(text or "", parse_int=_short, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None


def _short(digits: str) -> Any:
    return int(digits) if len(digits) <= 15 else digits
