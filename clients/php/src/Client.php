<?php

declare(strict_types=1);

namespace Topupd\Client;

/** The interface and topupd's reports. Failures are returned; wrong arguments throw an InvalidArgumentException. */
final class Client
{
    private const HEADERS = [
        'content-type', 'date', 'idempotent-replayed', 'retry-after', 'www-authenticate', 'x-request-id',
    ];
    private readonly string $base;
    private readonly string $version;
    private readonly Redactor $redactor;
    private readonly \Closure $transport;
    private readonly \Closure $random;

    /**
     * @param callable|null $transport in place of StreamTransport::send, such as for a proxy; sends each request once
     * @param callable|null $random gives a number from 0 to 1, without 1
     */
    public function __construct(
        string $base,
        #[\SensitiveParameter] private readonly string $token,
        private readonly int $timeoutMs = 30_000,
        private readonly bool $repeatsAreSafe = false,
        ?callable $transport = null,
        private readonly Clock $clock = new Clock(),
        ?callable $random = null,
    ) {
        self::require(preg_match('/^[!-~]+$/D', $token), 'token must be the access token alone');
        self::require($timeoutMs > 0, 'timeoutMs must be more than 0');
        $isUrl = preg_match('~^https?://[^/?#@\s]+(/[^?#@\s]*)?$~D', $base) && parse_url($base);
        self::require($isUrl, 'base must be http or https, without user or query');
        $this->base = rtrim($base, '/');
        $this->version = basename($this->base);
        self::require(in_array($this->version, ['v1.0.1', 'v1.0.0'], true), 'base must end with v1.0.1 or v1.0.0');
        $this->redactor = new Redactor($token);
        $this->transport = ($transport ?? StreamTransport::send(...))(...);
        $this->random = ($random ?? static fn (): float => random_int(0, 999_999) / 1_000_000)(...);
    }

    /** A dump does not show the access token. */
    public function __debugInfo(): array
    {
        return ['base' => $this->base];
    }

    /** Finds a customer by mobile number, customer id, set-top box number or username. */
    public function lookUpCustomer(string $code): Answer
    {
        $read = fn (array $body): array => Shapes::customer($body, $this->version);
        return $this->ask('get-customer-information', ['code' => $code], $read);
    }

    /** Lists the subscriptions of a connection, the bouquets on offer, and a checkoutId. */
    public function listPackages(string $cuid, string $service, string $reqId): Answer
    {
        $asked = compact('cuid', 'service', 'reqId');
        $read = fn (array $body): array => Shapes::listing($body, $this->version, $asked);
        return $this->ask('get-subscription-package', $asked, $read);
    }

    /** Finds the top-up that was made with a checkoutId. */
    public function queryTransaction(string $checkoutId): Answer
    {
        return $this->result('txn-status', self::checked(['checkoutId' => $checkoutId]), $this->timeoutMs);
    }

    /** Gets your balance, commission rules and limits. The balance can be some seconds old. */
    public function getAccount(): Answer
    {
        return $this->ask('partner/account', [], Shapes::account(...));
    }

    /** Lists the entries of your account of some days, oldest first: all pages as items, or a failure. */
    public function listAccountEntries(string $from, string $to): Answer
    {
        return $this->list('partner/account/entries', compact('from', 'to'));
    }

    /** Lists your top-ups of some days, oldest first: all pages as items, or a failure. */
    public function listTopUps(string $from, string $to): Answer
    {
        return $this->list('partner/top-ups', compact('from', 'to'));
    }

    /** Finds your top-ups of any day with this udf1, oldest first: all pages as items, or a failure. */
    public function findTopUps(string $udf1): Answer
    {
        return $this->list('partner/top-ups', compact('udf1'), ['from' => null, 'to' => null]);
    }

    /**
     * Tops up, and asks txn-status if the answer is lost. topupd always gives the outcome in the default time. Save the
     * purchase first. After a restart, call this with the same purchase, and $resumed true.
     *
     * @param array<string, string> $purchase cuid, service, reqId, checkoutId, bouquetId, amt, and maybe udf1 and udf2
     */
    public function topUp(array $purchase, bool $resumed = false, int $giveUpAfterMs = 480_000): TopUpOutcome
    {
        $wire = $this->wire($purchase);
        self::require($giveUpAfterMs > 0, 'giveUpAfterMs must be more than 0');
        $order = new TopUp($wire, $this->repeatsAreSafe, $resumed);
        try {
            return $this->carryOut($order, $wire, $resumed ? 'query' : 'send', $giveUpAfterMs);
        } catch (\Throwable) {
            // An unexpected error in the clock or the random source. A request may have been sent.
            $order->isOpen = true;
            return $order->giveUp(Clock::LONGEST_BACK_OFF_MS);
        }
    }

    private function carryOut(TopUp $order, array $wire, string $do, int $giveUpAfterMs): TopUpOutcome
    {
        $endsAt = $this->clock->monotonicMs() + $giveUpAfterMs;
        for ($waits = 1; true; $waits++) {
            $timeoutMs = min($this->timeoutMs, $endsAt - $this->clock->monotonicMs());
            $move = $do === 'send'
                ? $order->afterTopUp($this->result('subscription-package-topup', $wire, $timeoutMs))
                : $order->afterQuery($this->result('txn-status', ['checkoutId' => $wire['checkoutId']], $timeoutMs));
            if ($move instanceof TopUpOutcome) {
                return $move;
            }
            [$do, $waitMs] = $move;
            if (!$this->clock->sleptBefore($endsAt, max($waitMs, Clock::backOffMs($waits, ($this->random)())))) {
                return $order->giveUp(max($waitMs, Clock::LONGEST_BACK_OFF_MS));
            }
        }
    }

    private function list(string $operation, array $asked, ?array $days = null): Answer
    {
        $items = [];
        for ($query = $asked; true; $query = ['cursor' => $page['next']]) {
            $read = static fn (array $body): array => Shapes::page($body, $days ?? $asked, $query['cursor'] ?? '');
            $answer = $this->ask($operation, $query, $read);
            if ($answer->failure !== null) {
                return $answer;
            }
            $page = $answer->value;
            $opening ??= $page['opening'];
            array_push($items, ...$page['items']);
            if ($page['next'] === null) {
                return new Answer(compact('opening', 'items'), null, $answer->requestId);
            }
        }
    }

    /** Sends what changes nothing, and once more if a busy deployment asks for that. */
    private function ask(string $operation, array $request, callable $read): Answer
    {
        $endsAt = $this->clock->monotonicMs() + $this->timeoutMs;
        $answer = $this->call($operation, self::checked($request), $this->timeoutMs, $read);
        // A long list may exceed the rate limit.
        $busy = str_starts_with($operation, 'partner/') ? [429, 503] : [503];
        $waitMs = in_array($answer->failure?->httpStatus, $busy, true) ? $answer->failure->retryAfterMs : 0;
        if ($waitMs === 0 || !$this->clock->sleptBefore($endsAt, $waitMs)) {
            return $answer;
        }
        return $this->call($operation, $request, $endsAt - $this->clock->monotonicMs(), $read);
    }

    private function result(string $operation, array $request, int $timeoutMs): Answer
    {
        $read = static fn (array $body): array => Shapes::result($body, $request['checkoutId']);
        return $this->call($operation, $request, $timeoutMs, $read);
    }

    private function call(string $operation, array $request, int $timeoutMs, callable $read): Answer
    {
        $headers = ['Authorization' => "Bearer $this->token", 'Content-Type' => 'application/json'];
        try {
            $body = json_encode($request, JSON_THROW_ON_ERROR);
            $url = "$this->base/$operation";
            if (str_starts_with($operation, 'partner/')) {
                [$url, $body] = [rtrim("$url?" . http_build_query($request), '?'), null];
            }
            [$status, $received, $text] = ($this->transport)($url, $headers, $body, $timeoutMs);
        } catch (\Throwable $error) {
            $isLate = $error->getCode() === StreamTransport::TIMED_OUT;
            $message = $isLate ? 'No answer came in time.' : 'The connection failed before a whole answer came.';
            $cause = $this->redactor->json($error::class . ': ' . $error->getMessage());
            $said = ['why' => $isLate ? 'timeout' : 'network', 'cause' => $cause];
            return new Answer(null, new Failure('no_answer', $operation, $message, ...$said));
        }
        $kept = $this->redactor->json(array_intersect_key($received, array_flip(self::HEADERS)));
        return AnswerReader::read($operation, [$status, $kept, $text], $this->redactor, $this->clock->nowMs(), $read);
    }

    private function wire(array $purchase): array
    {
        $names = array_fill_keys(['cuid', 'service', 'reqId', 'checkoutId', 'bouquetId', 'amt'], '');
        $wire = array_intersect_key($purchase, $names) + $names;
        self::require(Amount::shortest(self::checked($wire)['amt']), 'amt must be plain decimal text');
        foreach (['udf1', 'udf2'] as $name) {
            $text = $purchase[$name] ?? null;
            if ($text !== null) {
                self::require($this->version !== 'v1.0.0', "$name does not exist in v1.0.0");
                $isShort = is_string($text) && preg_match('/^.{0,30}$/Dsu', $text);
                self::require($isShort, "$name must be text of at most 30 characters");
                $wire[$name] = $text;
            }
        }
        return $wire;
    }

    private static function checked(array $request): array
    {
        foreach ($request as $name => $text) {
            self::require(is_string($text) && preg_match('/^.+$/Dsu', $text), "$name must be text that is not empty");
        }
        self::require(isset(Shapes::NAMES[$request['service'] ?? 'tv']), 'service must be tv, internet or iptv');
        return $request;
    }

    private static function require(mixed $holds, string $message): void
    {
        $holds || throw new \InvalidArgumentException($message);
    }
}
