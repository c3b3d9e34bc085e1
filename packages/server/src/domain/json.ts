/**
 * A strict JSON reader for money: a number keeps the text it was written with, so that `2847.15`
 * never passes through a float and `1e3` is still recognised as an exponent. Duplicate keys, which
 * RFC 8259 leaves to chance, are refused (decisions, "Failures").
 */
export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject;

/** Inherits nothing: `__proto__` and `constructor` are keys like any other. */
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

/** Deeper than anything that is sent in earnest, and far from the end of the stack. */
const DEEPEST = 16;

const ESCAPED_STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

/** @throws JsonSyntaxError with a sentence that holds nothing of the text but key names. */
export function readJson(text: string): JsonValue {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

/** Writes what {@link readJson} reads to the same: a number as it was written. */
export function writeJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.literal;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`)
    .join(",")}}`;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text that bytes are in UTF-8, a byte order mark and all; undefined where they are none. */
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

/** Inherits nothing, and is laid out by the engine as a class's fields are: a bare dictionary is slow to fill. */
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

/** Goes by character codes: most of an import's time of reading is spent here, and patterns take twice as long. */
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
      // No value is undefined; and to ask for it is quicker than to ask whether the key is there.
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

  /** Passes over blanks. @returns the code of the character after them; NaN at the end. */
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
