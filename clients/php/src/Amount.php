<?php

declare(strict_types=1);

namespace Topupd\Client;

/** @internal Amounts are plain decimal text such as "1130" or "2847.15", never floats. */
final class Amount
{
    /** The shortest form, so that equal amounts are equal; null if it is no plain decimal, or not exact as a number. */
    public static function shortest(string $text): ?string
    {
        if (strlen($text) > 40 || preg_match('/^0*([0-9]+?)(?:\.(?=[0-9])([0-9]*?)0*)?$/D', $text, $match) !== 1) {
            return null;
        }
        $amount = ($match[2] ?? '') === '' ? $match[1] : "$match[1].$match[2]";
        return strlen(str_replace('.', '', $amount)) <= 15 ? $amount : null;
    }

    /** Reads a JSON number, or text if a deployment sends it; null if it is not exact. */
    public static function read(mixed $value): ?string
    {
        $text = is_int($value) || is_string($value) ? (string) $value : '';
        $amount = self::shortest($text);
        // Some programs write a double with an exponent, or with too many digits: 2847.1500000000001 is 2847.15.
        $isDouble = strlen($text) <= 18 && preg_match('/^[0-9]+(?:\.[0-9]+)?(?:E[+-]?[0-9]{1,2})?$/Di', $text) === 1;
        for ($decimals = 0; $amount === null && $isDouble && $decimals <= 9; $decimals++) {
            $plain = number_format((float) $text, $decimals, '.', '');
            $amount = (float) $plain === (float) $text ? self::shortest($plain) : null;
        }
        return $amount;
    }

    /** Reads an amount that can be negative, such as a balance. */
    public static function readSigned(mixed $value): ?string
    {
        preg_match('/^-(.*)$/Ds', is_int($value) || is_string($value) ? (string) $value : '', $match);
        $amount = self::read($match[1] ?? $value);
        return $amount !== null && $match !== [] ? "-$amount" : $amount;
    }
}
