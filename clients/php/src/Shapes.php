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
        if ($customer['cuid'] !== $cuid || $isAnother) {
            throw new \UnexpectedValueException('the listing is of another customer or connection');
        }
        $price = $version === 'v1.0.1' ? 'price' : 'amt';
        $bouquets = $subscriptions = [];
        foreach (self::field($listing, 'subscriptions', 'list') as $item) {
            $subscriptions[] = self::read($item, self::SUBSCRIPTION);
        }
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
        $isList = is_array($value) && array_is_list($value);
        $holds = match ($type) {
            'object' => is_array($value) && (!$isList || $value === []),
            'list' => $isList && array_filter($value, 'is_array') === $value,
            'text' => is_string($value),
            'identifier' => is_string($value) && $value !== '',
            'amount' => ($value = Amount::read($value)) !== null,
        };
        return $holds ? $value : throw new \UnexpectedValueException("$name: no $type");
    }
}
