<?php

declare(strict_types=1);

namespace Topupd\Client;

/** The client's source of time, in milliseconds. Tests replace it. */
class Clock
{
    public const LONGEST_BACK_OFF_MS = 20_000;

    /** Time since 1970. */
    public function nowMs(): int
    {
        return (int) (microtime(true) * 1000);
    }

    public function monotonicMs(): int
    {
        return intdiv(hrtime(true), 1_000_000);
    }

    public function sleepMs(int $ms): void
    {
        usleep($ms * 1000);
    }

    /** Waits. False if the wait would not end before a time (of monotonicMs). */
    final public function sleptBefore(int $endsAt, int $ms): bool
    {
        if ($this->monotonicMs() + $ms >= $endsAt) {
            return false;
        }
        $this->sleepMs($ms);
        return $this->monotonicMs() < $endsAt;
    }

    /** A random time up to a limit that doubles with each wait. It spreads callers that failed together. */
    final public static function backOffMs(int $waits, float $random): int
    {
        return (int) (min(self::LONGEST_BACK_OFF_MS, 500 * 2 ** min($waits - 1, 20)) * (0.1 + 0.9 * $random));
    }

    /** Milliseconds to wait, at most ten minutes. The header contains seconds or an HTTP date (RFC 9110). */
    final public static function readRetryAfter(string $value, int $nowMs): int
    {
        $waitMs = 0;
        if (preg_match('/^[0-9]{1,9}$/D', trim($value)) === 1) {
            $waitMs = (int) $value * 1000;
        } elseif (preg_match('/^[A-Z][a-z]{2,8}, .*GMT$/D', trim($value)) === 1) {
            // HTTP dates are in GMT. Any other date could be read in the local zone.
            $at = strtotime($value);
            $waitMs = $at === false ? 0 : $at * 1000 - $nowMs;
        }
        return min(600_000, max(0, $waitMs));
    }
}
