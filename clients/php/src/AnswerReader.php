<?php

declare(strict_types=1);

namespace Topupd\Client;

/** @internal Turns an answer into a value or a failure: a value only if status, success, code and every field agree. */
final class AnswerReader
{
    /** HTTP status, reason and usual next action of each failure that topupd documents. */
    private const KNOWN = [
        '400ac001' => [401, 'missing_token', 'fix_request'], '400ac002' => [401, 'unknown_token', 'no'],
        '400ac003' => [401, 'expired_token', 'no'], '400ac004' => [401, 'revoked_token', 'no'],
        '400ac005' => [403, 'partner_suspended', 'no'], '400ac006' => [429, 'rate_limited', 'same_request'],
        '400ac007' => [403, 'address_not_allowed', 'no'], '400ad001' => [400, 'malformed_json', 'fix_request'],
        '400ad002' => [400, 'invalid_field', 'fix_request'], '400ad003' => [404, 'unknown_operation', 'fix_request'],
        '400ad004' => [405, 'method_not_allowed', 'fix_request'], '400ad005' => [413, 'body_too_large', 'fix_request'],
        '400ad006' => [415, 'unsupported_media_type', 'fix_request'], '400aa101' => [404, 'customer_not_found', 'no'],
        '400aa102' => [409, 'ambiguous_code', 'fix_request'], '400aa103' => [404, 'connection_not_found', 'no'],
        '400aa104' => [422, 'customer_inactive', 'no'], '400aa105' => [422, 'connection_blocked', 'no'],
        '400ab101' => [404, 'checkout_unknown', 'fix_request'], '400ab102' => [410, 'checkout_expired', 'new_checkout'],
        '400ab103' => [409, 'checkout_used', 'query_status'], '400ab104' => [422, 'checkout_mismatch', 'new_checkout'],
        '400ab105' => [422, 'bouquet_unavailable', 'new_checkout'],
        '400ab106' => [422, 'amount_mismatch', 'fix_request'], '400ab107' => [404, 'not_topped_up', 'query_status'],
        '400ab108' => [410, 'never_topped_up', 'new_checkout'],
        '400ab109' => [402, 'insufficient_balance', 'new_checkout'], '400ab110' => [403, 'limit_reached', 'no'],
        '400ae001' => [500, 'internal_error', 'query_status'], '400ae002' => [503, 'unavailable', 'same_request'],
    ];
    private const RETRIES = ['fix_request', 'same_request', 'new_checkout', 'query_status', 'no'];

    /**
     * @param array{int, array<string, string>, string} $answer status, headers without the access token, text
     * @param callable(array): array $read throws UnexpectedValueException
     */
    public static function read(string $operation, array $answer, Redactor $redact, int $nowMs, callable $read): Answer
    {
        [$status, $headers, $text] = $answer;
        $parsed = self::parsed($text);
        $envelope = is_array($parsed) ? $parsed : [];
        $body = is_array($envelope['body'] ?? null) ? $envelope['body'] : [];
        $code = is_string($envelope['code'] ?? null) ? $envelope['code'] : '';
        $inEnvelope = ($envelope['success'] ?? null) === false;
        $id = $headers['x-request-id'] ?? $body['requestId'] ?? null;
        // Bytes that are no UTF-8 would break a log in JSON.
        preg_match('/^.{0,4000}/su', $redact->json($text), $kept);
        $common = [
            'httpStatus' => $status,
            'headers' => $headers,
            'requestId' => is_string($id) ? $redact->json($id) : null,
            'retryAfterMs' => Clock::readRetryAfter($headers['retry-after'] ?? '', $nowMs),
            'body' => $parsed === null ? ($kept[0] ?? '') : $redact->json($parsed),
        ];
        $failed = static fn (string $kind, string $message, array $said = []): Answer =>
            new Answer(null, new Failure($kind, $operation, $redact->json($message), ...$common, ...$said));
        if (($envelope['success'] ?? null) === true) {
            $successCodes = ['get' => '400aa010', 'par' => '400ac010'];
            $successCode = $successCodes[substr($operation, 0, 3)] ?? '400ab001';
            try {
                $isRight = $code === $successCode && intdiv($status, 100) === 2;
                $value = $isRight ? $read($body) : throw new \UnexpectedValueException('status or code');
                $replayed = ($headers['idempotent-replayed'] ?? '') === 'true';
                return new Answer($value, null, $common['requestId'], $replayed);
            } catch (\UnexpectedValueException $error) {
                return $failed('unreadable', "The answer is not as in the interface: {$error->getMessage()}.");
            }
        }
        $isBroken = $parsed === null && str_contains($headers['content-type'] ?? '', 'json');
        if ($isBroken || (!$inEnvelope && $status < 400)) {
            return $failed('unreadable', 'The answer is broken, or not in the envelope.');
        }
        $message = is_string($body['message'] ?? null) ? $body['message'] : "The answer says no: HTTP $status.";
        $retry = in_array($body['retry'] ?? null, self::RETRIES, true) ? $body['retry'] : null;
        [$usualStatus, $reason, $usualRetry] = self::KNOWN[$code] ?? [0, '', ''];
        // Another deployment may use topupd's codes with another meaning.
        if ($inEnvelope && $usualStatus === $status && ($body['reason'] ?? null) === $reason) {
            $said = ['code' => $code, 'reason' => $reason, 'retry' => $retry ?? $usualRetry, 'inEnvelope' => true];
            foreach (['fields', 'limit', 'limitEndsAt'] as $name) {
                $said[$name] = $redact->json($body[$name] ?? null);
            }
            return $failed('refused', $message, [...$said, 'missing' => Amount::read($body['missing'] ?? null)]);
        }
        $said = ['code' => $code === '' ? null : $redact->json($code), 'retry' => $retry, 'inEnvelope' => $inEnvelope];
        return $failed('refused_otherwise', $message, $said);
    }

    /** Parsed JSON, or null. A number with decimals or many digits becomes text: a float could silently change it. */
    private static function parsed(string $text): mixed
    {
        $exact = static fn (array $match): string =>
            $match[0][0] === '"' || preg_match('/^-?[0-9]{1,15}$/D', $match[0]) === 1 ? $match[0] : "\"$match[0]\"";
        $text = (string) preg_replace('/^\xEF\xBB\xBF/', '', $text);
        $text = preg_replace_callback('/"(?:[^"\\\\]++|\\\\.)*+"|-?[0-9][0-9.eE+-]*/s', $exact, $text);
        return json_decode((string) $text, true);
    }
}
