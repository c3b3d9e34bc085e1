<?php

declare(strict_types=1);

namespace Topupd\Client;

/** @internal Removes the access token from text and JSON: an answer or error may quote the request. */
final class Redactor
{
    private const HIDDEN = '[access token]';
    // Shorter parts of a token are useless.
    private const TELLING_LENGTH = 16;
    /** @var string[] the token as JSON, HTML and JavaScript may write it */
    private readonly array $spellings;

    public function __construct(#[\SensitiveParameter] string $token)
    {
        $inJson = substr(json_encode($token, JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR), 1, -1);
        $inHtml = [htmlspecialchars($token, ENT_NOQUOTES), str_replace('&#039;', '&#39;', htmlspecialchars($token))];
        $spellings = [$token, $inJson, str_replace('/', '\\/', $inJson), ...$inHtml];
        foreach (['\\u%04X', '\\u%04x'] as $form) {
            $escape = static fn (array $mark): string => sprintf($form, ord($mark[0]));
            $spellings[] = (string) preg_replace_callback('/\W/', $escape, $token);
        }
        $this->spellings = $spellings;
    }

    public function json(mixed $value): mixed
    {
        if (is_array($value)) {
            $names = array_map(fn (mixed $name): mixed => $this->json($name), array_keys($value));
            return array_combine($names, array_map(fn (mixed $item): mixed => $this->json($item), $value));
        }
        if (!is_string($value)) {
            return $value;
        }
        $text = str_replace($this->spellings, self::HIDDEN, $value);
        // A truncated answer may end within the token.
        foreach ($this->spellings as $spelling) {
            for ($length = strlen($spelling) - 1; $length >= self::TELLING_LENGTH; $length--) {
                if (str_ends_with($text, substr($spelling, 0, $length))) {
                    $text = substr($text, 0, -$length) . self::HIDDEN;
                }
            }
        }
        return $text;
    }
}
