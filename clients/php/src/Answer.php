<?php

declare(strict_types=1);

namespace Topupd\Client;

/** A value, or else a failure. Values are arrays with the names of the interface; amounts are decimal text. */
final class Answer
{
    /**
     * @param string|null $requestId for the provider's support
     * @param bool $replayed whether an earlier request recorded this, according to the deployment
     */
    public function __construct(
        public readonly ?array $value,
        public readonly ?Failure $failure = null,
        public readonly ?string $requestId = null,
        public readonly bool $replayed = false,
    ) {
    }
}
