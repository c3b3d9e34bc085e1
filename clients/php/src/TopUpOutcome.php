<?php

declare(strict_types=1);

namespace Topupd\Client;

/**
 * The outcome is topped_up (recorded, as result: check its status), refused (nothing was recorded for this purchase),
 * never_topped_up (nothing was, and nothing ever will be) or undecided (do not return the money, and do not use another
 * checkoutId: do what next says). next has checkoutId, afterMs and do, which is query_again (call topUp with the same
 * purchase and resumed, after afterMs), fix_request (fix the access token or the IP address, then do the same) or
 * ask_provider (no program can decide it).
 */
final class TopUpOutcome
{
    public function __construct(
        public readonly string $outcome,
        public readonly ?array $result = null,
        public readonly bool $replayed = false, // Whether it was recorded before this answer.
        public readonly ?Failure $failure = null,
        public readonly ?array $next = null,
    ) {
    }
}
