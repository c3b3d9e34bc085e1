<?php

declare(strict_types=1);

namespace Topupd\Client;

/** @internal Reads the bodies of successes. A value that differs from the interface is refused, by its name. */
final class Shapes
{
    /** Fields that name a connection. */
    public const NAMES = ['tv' => ['stb'], 'internet' => ['username'], 'iptv' => ['username', 'stb']];
    private const PROFILE = ['cuid' => 'identifier', 'first_name' => 'text', 'last_name' => 'text', 'status' => 'text'];
    private const SUBSCRIPTION = ['code' => 'identifier', 'name' => 'text', 'startdate' => 'text', 'enddate' => 'text'];
    private const RESULT = [
        'orderId' => 'identifier', 'txnId' => 'identifier', 'cuid' => 'identifier', 'reqId' => 'identifier',
        'bouquetId' => 'identifier', 'amt' => 'amount', 'txnDate' => 'text', 'status' => 'identifier',
        'service' => 'identifier',
    ];
    private const TOP_UP = self::RESULT + [
        'commission' => 'amount', 'reversedAt' => '?text', 'udf1' => '?text', 'udf2' => '?text',
    ];
    private const ENTRY = [
        'at' => 'text', 'kind' => 'text', 'amount' => 'signed', 'balance' => 'signed', 'reference' => '?text',
        'txnId' => '?text', 'orderId' => '?text', 'gross' => '?amount', 'commission' => '?amount',
    ];
    private const ACCOUNT = [
        'balance' => 'signed', 'creditLimit' => '?amount', 'available' => '?signed', 'currency' => '?text',
    ];
    private const RULE = [
        'service' => '?text', 'bouquetId' => '?text', 'percent' => '?amount', 'fixed' => '?amount', 'from' => 'text',
    ];
    private const LIMITS = [
        'topUpAmount' => '?amount', 'dayAmount' => '?amount', 'dayTopUps' => '?count', 'rate' => 'count',
        'burst' => 'count', 'newLookUps' => '?count',
    ];

    /** The connection is beside the customer in v1.0.0. */
    public static function customer(array $body, string $version): array
    {
        $customer = self::field($body, 'customer', 'object');
        [$from, $name] = $version === 'v1.0.1' ? [$customer, 'connections'] : [$body, 'connection'];
        $listed = self::field($from, $name, 'object');
        $connections = [];
        foreach (array_keys(self::NAMES) as $service) {
            // A deployment without a service may omit its list: digital TV exists only since v1.0.1.
            $items = isset($listed[$service]) ? self::field($listed, $service, 'list') : [];
            $found = array_map(static fn (array $item): ?array => self::connection($item, $service), $items);
            $connections[$service] = array_values(array_filter($found));
        }
        return [...self::read($customer, self::PROFILE), 'connections' => $connections];
    }

    /** A listing of another customer or connection is refused: its checkoutId would top up another customer. */
    public static function listing(array $body, string $version, array $asked): array
    {
        ['cuid' => $cuid, 'service' => $service, 'reqId' => $reqId] = $asked;
        $listing = self::field($body, $service, 'object');
        $customer = self::read(self::field($body, 'customer', 'object'), self::PROFILE);
        $shown = self::field($listing, 'connection', 'object');
        // An iptv connection may have both names, and the request may use either; the interface does not show them.
        $names = array_intersect_key($shown, array_flip(self::NAMES[$service]));
        $isAnother = self::connection($shown, $service) !== null && !in_array($reqId, $names, true);
        $isAsked = $customer['cuid'] === $cuid && !$isAnother;
        $isAsked || throw new \UnexpectedValueException('the listing is of another customer or connection');
        $price = $version === 'v1.0.1' ? 'price' : 'amt';
        $subscriptions = self::items($listing, 'subscriptions', self::SUBSCRIPTION);
        $bouquets = [];
        foreach (self::field($listing, 'bouquets', 'list') as $item) {
            $named = self::read($item, ['code' => 'identifier', 'name' => 'text']);
            $bouquets[] = [...$named, 'price' => self::field($item, $price, 'amount')];
        }
        $checkoutId = self::field($body, 'checkoutId', 'identifier');
        $connection = ['reqId' => $reqId, 'status' => self::field($shown, 'status', 'text')];
        return compact('checkoutId', 'customer', 'service', 'connection', 'subscriptions', 'bouquets');
    }

    public static function result(array $body, string $checkoutId): array
    {
        $result = self::read(self::field($body, 'result', 'object'), self::RESULT);
        $isAsked = $result['orderId'] === $checkoutId;
        return $isAsked ? $result : throw new \UnexpectedValueException('the result is of another checkoutId');
    }

    public static function account(array $body): array
    {
        $commission = self::items($body, 'commission', self::RULE);
        $limits = self::read(self::field($body, 'limits', 'object'), self::LIMITS);
        return self::read($body, self::ACCOUNT) + compact('commission', 'limits');
    }

    /** A page of other days, or one that leads to itself, is refused: a proxy may have stored it. */
    public static function page(array $body, array $days, string $cursor): array
    {
        $next = self::field($body, 'next', '?text');
        $isAsked = array_intersect_key($body, $days) == $days && $next !== $cursor;
        $isAsked || throw new \UnexpectedValueException('this is another page');
        // Only the entries of an account have an opening balance.
        $opening = isset($body['opening']) ? self::field($body, 'opening', 'signed') : null;
        $items = self::items($body, 'items', $opening === null ? self::TOP_UP : self::ENTRY);
        return compact('items', 'next', 'opening');
    }

    private static function items(array $from, string $name, array $types): array
    {
        $read = static fn (array $item): array => self::read($item, $types);
        return array_map($read, self::field($from, $name, 'list'));
    }

    /** Null for an iptv item without a known name: the interface does not show one, and the others must be read. */
    private static function connection(array $item, string $service): ?array
    {
        $known = array_intersect(self::NAMES[$service], array_keys($item));
        if ($known === [] && $service === 'iptv') {
            return null;
        }
        $reqId = self::field($item, reset($known) ?: self::NAMES[$service][0], 'identifier');
        return ['reqId' => $reqId, 'status' => self::field($item, 'status', 'text')];
    }

    /** @param array<string, string> $types the type of each field */
    private static function read(array $from, array $types): array
    {
        array_walk($types, static fn (string &$type, string $name) => $type = self::field($from, $name, $type));
        return $types;
    }

    private static function field(array $from, string $name, string $type): mixed
    {
        $value = $from[$name] ?? null;
        if ($type[0] === '?') {
            $isNull = $value === null && array_key_exists($name, $from);
            return $isNull ? null : self::field($from, $name, substr($type, 1));
        }
        $isList = is_array($value) && array_is_list($value);
        $holds = match ($type) {
            'object' => is_array($value) && (!$isList || $value === []),
            'list' => $isList && array_filter($value, 'is_array') === $value,
            'text' => is_string($value),
            'identifier' => is_string($value) && $value !== '',
            'count' => is_int($value),
            'amount' => ($value = Amount::read($value)) !== null,
            'signed' => ($value = Amount::readSigned($value)) !== null,
        };
        return $holds ? $value : throw new \UnexpectedValueException("$name: no $type");
    }
}
