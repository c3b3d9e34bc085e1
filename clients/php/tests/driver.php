<?php

declare(strict_types=1);

/*
 * Makes one call for each line of standard input, and prints its outcome and waits as a line of JSON. The lines are
 * made from contract/client-vectors.json.
 */

use Topupd\Client\Client;
use Topupd\Client\Clock;

error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if ((error_reporting() & $level) === 0) {
        return false;
    }
    throw new \ErrorException("$message in $file:$line");
});
spl_autoload_register(static function (string $class): void {
    require dirname(__DIR__) . '/src/' . substr($class, strlen('Topupd\\Client\\')) . '.php';
});

/** Time passes only by waits, which take none. */
final class RecordingClock extends Clock
{
    public array $waitsMs = [];

    public function __construct(private int $now)
    {
    }

    public function nowMs(): int
    {
        return $this->now;
    }

    public function monotonicMs(): int
    {
        return $this->now;
    }

    public function sleepMs(int $ms): void
    {
        $this->waitsMs[] = $ms;
        $this->now += $ms;
    }
}

function camel(mixed $value): mixed
{
    if (!is_array($value) && !is_object($value)) {
        return $value;
    }
    $named = [];
    foreach ($value as $name => $item) {
        $upper = static fn (array $match): string => strtoupper($match[1]);
        $named[preg_replace_callback('/_(.)/', $upper, (string) $name)] = camel($item);
    }
    $isList = is_array($value) && array_is_list($value);
    return $isList ? array_values($named) : array_filter($named, static fn (mixed $item): bool => $item !== null);
}

while (($line = fgets(STDIN)) !== false) {
    ['nowMs' => $nowMs, 'options' => $options, 'do' => $do, 'with' => $with] = $call = json_decode($line, true);
    $clock = new RecordingClock($nowMs);
    try {
        $client = new Client(...$options, clock: $clock, random: static fn (): float => 0.999_999);
        $limits = array_intersect_key($call, ['resumed' => true, 'giveUpAfterMs' => true]);
        $result = $do === 'topUp' ? $client->topUp($with, ...$limits) : $client->$do(...$with);
        $shown = $result->failure . print_r($client, true);
        $outcome = camel($result);
    } catch (\InvalidArgumentException $error) {
        [$outcome, $shown] = [['raised' => $error->getMessage()], (string) $error];
    }
    $answer = ['outcome' => $outcome, 'waitsMs' => $clock->waitsMs, 'shown' => $shown];
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
