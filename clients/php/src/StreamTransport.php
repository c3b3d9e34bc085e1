<?php

declare(strict_types=1);

namespace Topupd\Client;

/** Uses a socket of its own, so that a time limit holds for the whole answer, and half an answer is noticed. */
final class StreamTransport
{
    /** Code of the exception for a late answer, as a connection has it on Linux. */
    public const TIMED_OUT = 110;
    /** Larger than any listing. */
    private const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

    /**
     * Sends a POST once, or a GET if the body is null. Follows no redirection: the token is for one host, and a
     * redirected POST may arrive twice.
     *
     * @return array{int, array<string, string>, string} status, headers by their lower-case names, body
     */
    public static function send(string $url, array $headers, ?string $body, int $timeoutMs): array
    {
        $endsAt = hrtime(true) + $timeoutMs * 1_000_000;
        ['scheme' => $scheme, 'host' => $host, 'path' => $path] = $parts = parse_url($url);
        $named = isset($parts['port']) ? "$host:{$parts['port']}" : $host;
        [$protocol, $port] = $scheme === 'https' ? ['ssl', 443] : ['tcp', 80];
        $address = "$protocol://$host:" . ($parts['port'] ?? $port);
        $socket = @stream_socket_client($address, $code, $message, $timeoutMs / 1000);
        if ($socket === false) {
            throw new \RuntimeException($message ?: error_get_last()['message'] ?? 'no connection', (int) $code);
        }
        $method = $body === null ? 'GET' : 'POST';
        $target = isset($parts['query']) ? "$path?{$parts['query']}" : $path;
        $request = "$method $target HTTP/1.1\r\nHost: $named\r\nConnection: close";
        $request .= $body === null ? '' : "\r\nContent-Length: " . strlen($body);
        foreach ($headers as $name => $value) {
            $request .= "\r\n$name: $value";
        }
        @fwrite($socket, "$request\r\n\r\n$body");
        $received = '';
        do {
            $leftUs = intdiv($endsAt - hrtime(true), 1_000);
            stream_set_timeout($socket, 0, max(1, $leftUs));
            $piece = (string) @fread($socket, 65_536);
            $received .= $piece;
            if ($leftUs <= 0 || stream_get_meta_data($socket)['timed_out']) {
                throw new \RuntimeException('the answer is late', self::TIMED_OUT);
            }
            if (strlen($received) > self::MAX_ANSWER_BYTES) {
                throw new \RuntimeException('the answer is too large');
            }
        } while ($piece !== '' || !feof($socket));
        return self::parsed($received);
    }

    private static function parsed(string $received): array
    {
        // Interim answers come before the one that counts.
        $received = (string) preg_replace('~^(?:HTTP/1\.1 1.*?\r\n\r\n)+~s', '', $received);
        [$head, $body] = explode("\r\n\r\n", $received, 2) + ['', null];
        if ($body === null || preg_match('~^HTTP/1\.[01] ([2-5][0-9]{2})~', $head, $status) !== 1) {
            throw new \RuntimeException('the answer is not HTTP, or was cut');
        }
        preg_match_all('/^([^:\s]+):[ \t]*(.*?)[ \t\r]*$/m', $head, $lines);
        $headers = array_change_key_case(array_combine($lines[1], $lines[2]));
        if (stripos($headers['transfer-encoding'] ?? '', 'chunked') !== false) {
            $body = self::joined($body);
        } elseif (strlen($body) < (int) ($headers['content-length'] ?? 0)) {
            throw new \RuntimeException('the answer was cut');
        }
        return [(int) $status[1], $headers, $body];
    }

    private static function joined(string $chunks): string
    {
        $body = '';
        for ($at = 0; preg_match('/([0-9a-f]{1,7})\b.*\n/Ai', $chunks, $size, 0, $at) === 1; $at += $length + 2) {
            $length = (int) hexdec($size[1]);
            if ($length === 0) {
                return $body;
            }
            $at += strlen($size[0]);
            $body .= substr($chunks, $at, $length);
        }
        throw new \RuntimeException('the answer was cut');
    }
}
