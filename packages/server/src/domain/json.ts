/**
 * A strict JSON reader for money. Numbers keep their text, so that `2847.15` never becomes a float and `1e3` is
 * recognised as an exponent. Duplicate keys are errors (docs/decisions.md, "Failures and requests").
 */
export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject;

/** It has no prototype members: `__proto__` and `constructor` are ordinary keys. */
export type JsonObject = { readonly [key: string]: JsonValue };

export class JsonNumber {
  readonly literal: string;
  constructor(literal: string) {
    this.literal = literal;
  }
}

export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

/** Deepest nesting: deeper than any real request, and far below the stack limit. */
const DEEPEST = 16;

const ESCAPED_STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

/** @throws JsonSyntaxError with a message that contains key names, but no values. */
export function readJson(text: string): JsonValue {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

/** Writes a value as JSON; numbers keep their text. */
export function writeJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.literal;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`)
    .join(",")}}`;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Decodes UTF-8 without a byte order mark at the start; undefined if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** An object without prototype members. V8 fills it faster than a null-prototype object. */
const Members = function Members() {} as unknown as new () => Record<string, JsonValue>;
Members.prototype = Object.freeze(Object.create(null));

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const BLANK = 0x20;
const [TAB, NEWLINE, RETURN] = [0x09, 0x0a, 0x0d];

/** Reads character codes: imports spend most of their reading time here, and patterns take twice as long. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonValue {
    const first = this.#next();
    if (first === QUOTE) return this.#string();
    if (first === OPENING_BRACE) return this.#object(depth + 1);
    if (first === OPENING_BRACKET) return this.#array(depth + 1);
    const number = this.#match(NUMBER);
    if (number !== undefined) return new JsonNumber(number);
    const word = this.#match(WORD);
    if (word === undefined) throw this.#unexpected();
    return word === "null" ? null : word === "true";
  }

  end(): void {
    this.#next();
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  #object(depth: number): JsonObject {
    this.#enter(depth);
    const members = new Members();
    if (this.#take(CLOSING_BRACE)) return members;
    do {
      if (this.#next() !== QUOTE) throw this.#unexpected();
      const key = this.#string();
      // Values are never undefined, and this check is faster than hasOwn.
      if (members[key] !== undefined)
        throw new JsonSyntaxError(`has the key ${JSON.stringify(key.slice(0, 64))} twice in one object`);
      if (!this.#take(COLON)) throw this.#unexpected();
      members[key] = this.value(depth);
    } while (this.#take(COMMA));
    if (!this.#take(CLOSING_BRACE)) throw this.#unexpected();
    return members;
  }

  #array(depth: number): JsonValue[] {
    this.#enter(depth);
    const items: JsonValue[] = [];
    if (this.#take(CLOSING_BRACKET)) return items;
    do items.push(this.value(depth));
    while (this.#take(COMMA));
    if (!this.#take(CLOSING_BRACKET)) throw this.#unexpected();
    return items;
  }

  #string(): string {
    const text = this.#text;
    const from = this.#at + 1;
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return text.slice(from, at);
      }
      if (code === BACKSLASH || code < BLANK) break;
    }
    const escaped = this.#match(ESCAPED_STRING);
    if (escaped === undefined) throw this.#unexpected();
    return JSON.parse(escaped) as string;
  }

  #enter(depth: number): void {
    if (depth > DEEPEST) throw new JsonSyntaxError(`is nested deeper than ${DEEPEST} levels`);
    this.#at += 1;
  }

  #take(mark: number): boolean {
    if (this.#next() !== mark) return false;
    this.#at += 1;
    return true;
  }

  /** Skips blanks. @returns the code of the next character; NaN at the end. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== BLANK && code !== TAB && code !== NEWLINE && code !== RETURN) return code;
      this.#at += 1;
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found[0];
  }

  #unexpected(): JsonSyntaxError {
    const where = this.#at < this.#text.length ? `at character ${this.#at + 1}` : "at its end";
    return new JsonSyntaxError(`is not JSON: something unexpected ${where}`);
  }
}
