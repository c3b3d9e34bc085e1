<?php

declare(strict_types=1);

namespace Topupd\Client;

/**
 * Why a call has no value. It never contains the access token; as a string, it shows no customer either.
 *
 * The kind is refused (a failure that topupd documents), refused_otherwise (a refusal in an unknown form),
 * used_otherwise (the checkoutId was used for another purchase), unsettled (a result with an unknown status), no_answer
 * (the request may have been carried out) or unreadable (an answer that cannot be trusted).
 */
final class Failure implements \Stringable
{
    public function __construct(
        public readonly string $kind,
        public readonly string $operation,
        public readonly string $message, // A sentence for the log. Its wording may change.
        public readonly int $httpStatus = 0,
        public readonly array $headers = [], // The useful ones, by their lower-case names.
        public readonly ?string $requestId = null, // Tell it the provider's support.
        public readonly int $retryAfterMs = 0, // Milliseconds that the deployment asks to wait.
        public readonly ?string $code = null,
        public readonly ?string $reason = null,
        public readonly ?string $retry = null, // fix_request, same_request, new_checkout, query_status or no.
        public readonly mixed $fields = null, // All problems of the request, if the reason is invalid_field.
        public readonly ?string $missing = null, // Amount that your account lacks (insufficient_balance).
        public readonly mixed $limit = null, // top_up_amount, day_amount, day_top_ups or paid_ahead (limit_reached).
        public readonly mixed $limitEndsAt = null, // By the provider's clock, if time ends that limit.
        public readonly bool $inEnvelope = false, // Whether a refusal comes from the deployment, not from a proxy.
        public readonly mixed $body = null, // The JSON, or the beginning of the text. It may contain names.
        public readonly ?array $recorded = null,
        public readonly array $differs = [], // Fields that differ between the recorded top-up and the purchase.
        public readonly ?string $why = null, // Reason of no_answer: timeout or network.
        public readonly ?string $cause = null,
    ) {
    }

    public function __toString(): string
    {
        $details = [$this->httpStatus, $this->reason ?? $this->why, $this->code, $this->requestId, $this->cause];
        return "$this->operation: $this->kind, $this->message (" . implode(', ', array_filter($details)) . ')';
    }
}
