import re
import time
from email.utils import mktime_tz, parsedate_tz
from typing import Callable

LONGEST_BACK_OFF_MS = 20_000


class Clock:
    """The client's source of time, in milliseconds. Tests replace it."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def sleep_ms(self, ms: int) -> None:
        time.sleep(ms / 1000)


def slept_before(ends_at: int, clock: Clock, ms: int) -> bool:
    """Waits. False if the wait would not end before `ends_at` (of `monotonic_ms`)."""
    if clock.monotonic_ms() + ms >= ends_at:
        return False
    clock.sleep_ms(ms)
    return clock.monotonic_ms() < ends_at


def back_off_ms(waits: int, random: Callable[[], float]) -> int:
    """A random time up to a limit that doubles with each wait. It spreads callers that failed together."""
    return int(min(LONGEST_BACK_OFF_MS, 500 * 2 ** min(waits - 1, 20)) * (0.1 + 0.9 * random()))


def read_retry_after(value: str, now_ms: int) -> int:
    """Milliseconds to wait, at most ten minutes. The header contains seconds or an HTTP date (RFC 9110)."""
    wait_ms = 0
    if re.fullmatch("[0-9]{1,9}", value.strip()):
        wait_ms = int(value) * 1000
    # HTTP dates are in GMT. Any other date could be read in the local zone.
    elif re.fullmatch("[A-Z][a-z]{2,8}, .*GMT", value.strip()) and (date := parsedate_tz(value)):
        try:
            wait_ms = mktime_tz(date) * 1000 - now_ms
        except (OverflowError, ValueError):  # No calendar has this date.
            pass
    return min(600_000, max(0, wait_ms))
