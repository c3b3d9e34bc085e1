<?php

declare(strict_types=1);

namespace Topupd\Client;

/**
 * @internal Decides the next step of a top-up. Two laws: only a recorded result with this purchase's values is a
 * success; a refusal counts only if no request of this purchase can be open, and after txn-status has confirmed it.
 */
final class TopUp
{
    // A refusal in a deployment's own terms may mean "not yet". It counts after txn-status has confirmed it at once,
    // and again when open requests should have arrived.
    private const CONFIRMED_AFTER_MS = 30_000;
    // A refusal names no checkoutId: it may belong to another purchase. After this time, the record is usually there.
    private const REFUSAL_CONFIRMED_AFTER_MS = 1_000;
    // Reasons that a query never gets: it names no bouquet, amount or customer, and may be late.
    private const OF_TOP_UPS_ONLY = [
        'customer_not_found', 'ambiguous_code', 'connection_not_found', 'customer_inactive', 'connection_blocked',
        'checkout_expired', 'checkout_used', 'checkout_mismatch', 'bouquet_unavailable', 'amount_mismatch',
        'insufficient_balance', 'limit_reached',
    ];
    // Request timeout, conflict, and a proxy that lost its caller: the request may have been served.
    private const OPEN_STATUSES = [408, 409, 499];

    private bool $wasClaimed = false; // Whether there was a result that is not, or not yet, this purchase's success.
    private bool $wasUsedOtherwise = false; // Whether topupd said that the checkoutId is used with other values.
    private bool $wasRepeatRefused = false; // A further repeat brings nothing new.
    private bool $saidNever = false; // never_topped_up names no checkoutId, so it counts only when said twice.
    private ?Failure $toConfirm = null; // The refusal that txn-status must still confirm.
    private bool $wasConfirmed = false; // Whether txn-status has confirmed a refusal in other terms once.
    private ?Failure $lastFailure = null;

    /** @param bool $isOpen whether a request may have been recorded, or still may be. Once true, it stays true. */
    public function __construct(
        private readonly array $wire,
        private readonly bool $repeatsAreSafe,
        public bool $isOpen,
    ) {
    }

    /** @return array{string, int}|TopUpOutcome send or query after milliseconds, or the end */
    public function afterTopUp(Answer $answer): array|TopUpOutcome
    {
        $failure = $answer->failure;
        if ($failure === null) {
            return $this->afterResult($answer->value, 'subscription-package-topup', $answer->replayed);
        }
        $leastMs = 0;
        if (self::leavesOpen($failure)) {
            $this->isOpen = true;
            $this->wasUsedOtherwise = $this->wasUsedOtherwise || $failure->reason === 'checkout_used';
        } elseif ($failure->reason === 'rate_limited') {
            // topupd itself says that it did not process the request.
            return $this->wait($this->isOpen ? 'query' : 'send', $failure);
        } elseif ($this->isOpen) {
            // The unanswered request before it may still reach the deployment.
            $this->wasRepeatRefused = true;
        } else {
            $this->toConfirm = $failure;
            $leastMs = $failure->kind === 'refused' ? self::REFUSAL_CONFIRMED_AFTER_MS : 0;
        }
        return $this->wait('query', $failure, $leastMs);
    }

    /** @return array{string, int}|TopUpOutcome send or query after milliseconds, or the end */
    public function afterQuery(Answer $answer): array|TopUpOutcome
    {
        $failure = $answer->failure;
        if ($failure === null) {
            return $this->afterResult($answer->value, 'txn-status', true);
        }
        $refusal = $this->isOpen ? null : $this->toConfirm;
        $isStray = in_array($failure->reason, self::OF_TOP_UPS_ONLY, true);
        $saysNever = $failure->reason === 'never_topped_up';
        $saidNever = $this->saidNever;
        $this->saidNever = $saysNever || ($saidNever && !$isStray && self::asksToWait($failure));
        // The deployment is topupd: repeats are safe, and a refusal in other terms was not its own.
        $isNotYet = $failure->reason === 'not_topped_up';
        $this->isOpen = $this->isOpen || $isNotYet;
        $mayRepeat = !$this->wasRepeatRefused && !$this->wasClaimed && $this->isOpen;
        return match (true) {
            $refusal !== null && self::agrees($failure, $refusal) => new TopUpOutcome('refused', failure: $refusal),
            $isStray => $this->wait('query', $failure),
            self::locksOut($failure) => $this->undecided('fix_request', $failure),
            $saysNever && ($this->wasClaimed || $this->wasUsedOtherwise) => $this->undecided('ask_provider', $failure),
            $saysNever && $saidNever => new TopUpOutcome('never_topped_up', failure: $failure),
            self::asksToWait($failure) => $this->wait('query', $failure),
            $isNotYet => $this->wait($mayRepeat ? 'send' : 'query', $failure),
            // A recorded top-up gets this too, with another partner's access token.
            $failure->reason === 'checkout_unknown' => $this->undecided('ask_provider', $failure),
            $failure->kind === 'refused' => $this->undecided('fix_request', $failure),
            $refusal !== null && $this->wasConfirmed => new TopUpOutcome('refused', failure: $refusal),
            $refusal !== null => $this->wait('query', $failure, self::CONFIRMED_AFTER_MS),
            default => $this->wait($mayRepeat && $this->repeatsAreSafe ? 'send' : 'query', $failure),
        };
    }

    /** The outcome if the time is up. */
    public function giveUp(int $afterMs): TopUpOutcome
    {
        $failure = $this->lastFailure;
        if (!$this->isOpen && $this->toConfirm === null && $failure !== null) {
            return new TopUpOutcome('refused', failure: $failure);
        }
        // A deployment that only refuses in its own terms will continue to do so.
        $isInVain = $failure?->kind === 'refused_otherwise' && !self::asksToWait($failure);
        return $this->undecided($isInVain ? 'ask_provider' : 'query_again', $failure, $afterMs);
    }

    private function afterResult(array $result, string $operation, bool $replayed): array|TopUpOutcome
    {
        $doubt = $this->doubtOf($result, $operation);
        if ($doubt !== null && ($operation !== 'txn-status' || $doubt->kind === 'unsettled')) {
            $this->isOpen = $this->wasClaimed = true;
            return $this->wait('query', $doubt);
        }
        return match (true) {
            $doubt === null => new TopUpOutcome('topped_up', $result, $replayed),
            // Unless topupd says so, the values may be this purchase's in another form, such as a fee in the amount.
            $this->wasUsedOtherwise && !$this->wasClaimed => new TopUpOutcome('refused', failure: $doubt),
            default => $this->undecided('ask_provider', $doubt),
        };
    }

    /** Why a result is not this purchase's top-up; null if it is. */
    private function doubtOf(array $result, string $operation): ?Failure
    {
        $purchase = ['amt' => Amount::shortest($this->wire['amt'])] + $this->wire;
        $isOther = static fn (string $name): bool => $purchase[$name] !== $result[$name];
        $differs = array_values(array_filter(['cuid', 'service', 'reqId', 'bouquetId', 'amt'], $isOther));
        if ($differs !== []) {
            $message = 'A top-up with this checkoutId is on record, with another ' . implode(', ', $differs) . '.';
            return new Failure('used_otherwise', $operation, $message, recorded: $result, differs: $differs);
        }
        $message = 'The recorded result has a status that is not known.';
        $isKnown = in_array($result['status'], ['success', 'reversed'], true);
        return $isKnown ? null : new Failure('unsettled', $operation, $message, recorded: $result);
    }

    private function undecided(string $do, ?Failure $failure, int $afterMs = 0): TopUpOutcome
    {
        $waitMs = max($afterMs, $failure?->retryAfterMs ?? 0);
        $next = ['do' => $do, 'checkoutId' => $this->wire['checkoutId'], 'afterMs' => $waitMs];
        return new TopUpOutcome('undecided', failure: $failure, next: $next);
    }

    private function wait(string $do, Failure $failure, int $leastMs = 0): array
    {
        $this->lastFailure = $failure;
        $this->wasConfirmed = $this->wasConfirmed || $leastMs === self::CONFIRMED_AFTER_MS;
        return [$do, max($leastMs, $failure->retryAfterMs)];
    }

    /** Whether a top-up with this failure may have been recorded, or still may be. */
    private static function leavesOpen(Failure $failure): bool
    {
        $isRefusal = in_array($failure->kind, ['refused', 'refused_otherwise'], true);
        // An answer outside the envelope comes from a proxy, which may have forwarded the request.
        if (!$isRefusal || !$failure->inEnvelope) {
            return !$isRefusal || $failure->httpStatus !== 429;
        }
        $isOpen = $failure->kind !== 'refused' && in_array($failure->httpStatus, self::OPEN_STATUSES, true);
        $isNever = $failure->reason === 'never_topped_up';
        return $isOpen || $isNever || $failure->retry === 'query_status' || $failure->httpStatus >= 500;
    }

    /**
     * Whether topupd's answer to txn-status and its refusal of the top-up together prove that nothing is recorded. A
     * failure of every request, such as a refused access token, is confirmed by the same failure of txn-status.
     */
    private static function agrees(Failure $failure, Failure $refusal): bool
    {
        $areKnown = $failure->kind === 'refused' && $refusal->kind === 'refused';
        $isUnknown = $failure->reason === 'checkout_unknown';
        $saysNothing = in_array($failure->reason, ['not_topped_up', 'never_topped_up'], true);
        $isSame = $failure->reason === $refusal->reason && !in_array($failure->reason, self::OF_TOP_UPS_ONLY, true);
        $areLockedOut = self::locksOut($failure) && self::locksOut($refusal);
        return $areKnown && !$isUnknown && ($saysNothing || $isSame || $areLockedOut);
    }

    /** Whether txn-status may give another answer soon. */
    private static function asksToWait(Failure $failure): bool
    {
        return $failure->reason !== 'not_topped_up' && (self::leavesOpen($failure) || $failure->httpStatus === 429);
    }

    /** Whether the deployment refuses every request of this caller. */
    private static function locksOut(Failure $failure): bool
    {
        $isLocked = in_array($failure->httpStatus, [401, 403], true);
        return $isLocked && !in_array($failure->reason, self::OF_TOP_UPS_ONLY, true);
    }
}
