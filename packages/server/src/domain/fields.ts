import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from "./json.ts";
import { type CurrencyExponent, type Money, parseMoney } from "./money.ts";
import { identifierProblem } from "./written-value.ts";

/** Longest identifier, in characters; a checkoutId is exactly as long. */
export const IDENTIFIER_MAX_LENGTH = 64;

/** Longest name of a customer, bouquet or plan in a provider's file, in characters. */
export const NAME_MAX_LENGTH = 200;

/**
 * An error in one field, for partners and operators. It never contains a value of a request, a name or a mobile number;
 * of a file it may name an identifier.
 */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

interface TextRule {
  readonly maxLength: number;
  readonly trim?: boolean;
  readonly mayBeEmpty?: boolean;
  /** Refuses blanks and invisible characters at both ends. */
  readonly isTight?: boolean;
  /** Refuses what {@link identifierProblem} finds. */
  readonly isOfFile?: boolean;
  /**
   * Accepts a JSON integer as its digits, since partners send ids as numbers (docs/decisions.md, "Identifiers and
   * text").
   */
  readonly takesInteger?: boolean;
}

/** ASCII without control characters and outer blanks: nothing to trim or refuse. */
const PLAIN_TEXT = /^[!-~](?:[ -~]*[!-~])?$/;

const BLANK_END = /^[\s\p{Cf}]|[\s\p{Cf}]$/u;

const DIGITS = /^[0-9]+$/;

const IDENTIFIER: TextRule = { maxLength: IDENTIFIER_MAX_LENGTH, takesInteger: true };
/** A text that customers or bouquets share, such as a segment. */
export const LABEL: TextRule = { maxLength: IDENTIFIER_MAX_LENGTH, isTight: true };
const STATED_IDENTIFIER: TextRule = { maxLength: IDENTIFIER_MAX_LENGTH, isTight: true, isOfFile: true };

/**
 * Reads the fields of one JSON object and collects all their errors, so that a caller can fix them in one go. A wrong
 * field reads as a dummy value of its type; {@link finish} then returns the errors.
 */
export class FieldReader {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #problems: FieldProblem[];
  /** A list is faster than a set for so few names. */
  readonly #known: string[] = [];

  constructor(object: JsonObject, path = "", problems: FieldProblem[] = []) {
    this.#object = object;
    this.#path = path;
    this.#problems = problems;
  }

  /** A string of 1 to 64 characters, compared exactly, or a JSON integer as its digits. Leading zeros count. */
  identifier(name: string): string {
    return this.text(name, IDENTIFIER);
  }

  /**
   * An identifier in a provider's file. Outer blanks are refused: fixed-width columns add them, and look-ups, which
   * trim their input, would never match. Placeholders and numbers that a program wrote would bring strangers together.
   */
  statedIdentifier(name: string): string {
    return this.text(name, STATED_IDENTIFIER);
  }

  text(name: string, rule: TextRule): string {
    const value = this.#required(name);
    return (value === undefined ? undefined : this.#text(name, value, rule)) ?? "";
  }

  optionalText(name: string, rule: TextRule): string | undefined {
    const value = this.#optional(name);
    return value === undefined ? undefined : this.#text(name, value, rule);
  }

  oneOf<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const first = choices[0] as Choice;
    const value = this.#required(name);
    if (value === undefined || choices.includes(value as Choice)) return (value as Choice | undefined) ?? first;
    this.problem(name, `must be one of ${choices.map((choice) => `"${choice}"`).join(", ")}`);
    return first;
  }

  /** An amount as a JSON string or number, a decimal in major units (docs/decisions.md, "Money"). */
  money(name: string, exponent: CurrencyExponent): Money {
    const value = this.#required(name);
    return (value === undefined ? undefined : this.#money(name, value, exponent)) ?? 0n;
  }

  /** A list of objects. `read` gets a reader for each, which names errors `name[index]`. */
  objects<Item>(name: string, read: (item: FieldReader) => Item): Item[] {
    return this.#items(name, (value, path) => {
      if (!isJsonObject(value)) return this.#report(path, "must be an object");
      const reader = new FieldReader(value, `${path}.`, this.#problems);
      const item = read(reader);
      reader.refuseOthers();
      return item;
    });
  }

  labels(name: string): string[] {
    return this.#items(name, (value, path) => this.#textAt(path, value, LABEL));
  }

  object<Value>(name: string, read: (fields: FieldReader) => Value): Value | undefined {
    const value = this.#required(name);
    if (value === undefined) return undefined;
    if (!isJsonObject(value)) return this.problem(name, "must be an object");
    const reader = new FieldReader(value, `${this.#path}${name}.`, this.#problems);
    const result = read(reader);
    reader.refuseOthers();
    return result;
  }

  has(name: string): boolean {
    return this.#optional(name) !== undefined;
  }

  /** A whole number in a span. */
  optionalInteger(name: string, [least, most]: readonly [least: number, most: number]): number | undefined {
    const value: unknown = this.#optional(name);
    if (value === undefined) return undefined;
    const number = value instanceof JsonNumber ? Number(value.literal) : value;
    if (Number.isInteger(number) && Number(number) >= least && Number(number) <= most) return Number(number);
    return this.problem(name, `must be a whole number from ${least} to ${most}`);
  }

  /** Whether the field is present and true. */
  flag(name: string): boolean {
    const value = this.#optional(name);
    if (value !== undefined && typeof value !== "boolean") this.problem(name, "must be true or false");
    return value === true;
  }

  /** Reports an error that the caller found in a field. */
  problem(name: string, problem: string): undefined {
    return this.#report(this.#path + name, problem);
  }

  /** Reports every field that was not read. Use it for files, not for requests. */
  refuseOthers(): void {
    for (const name of Object.keys(this.#object)) {
      if (!this.#known.includes(name)) this.problem(name.slice(0, IDENTIFIER_MAX_LENGTH), "is not a known field");
    }
  }

  finish<Value>(value: Value): Reading<Value> {
    return this.#problems.length === 0 ? { ok: true, value } : { ok: false, problems: this.#problems };
  }

  #report(field: string, problem: string): undefined {
    this.#problems.push({ field, problem });
    return undefined;
  }

  #required(name: string): JsonValue | undefined {
    this.#known.push(name);
    const value = this.#object[name];
    return value === undefined ? this.problem(name, "is required") : value;
  }

  #optional(name: string): JsonValue | undefined {
    this.#known.push(name);
    return this.#object[name] ?? undefined;
  }

  #items<Item>(name: string, read: (value: JsonValue, path: string) => Item | undefined): Item[] {
    const list = this.#optional(name);
    if (list === undefined) return [];
    const items: Item[] = [];
    if (!Array.isArray(list)) {
      this.problem(name, "must be a list");
      return items;
    }
    for (let index = 0; index < list.length; index += 1) {
      const item = read(list[index] as JsonValue, `${this.#path}${name}[${index}]`);
      if (item !== undefined) items.push(item);
    }
    return items;
  }

  #money(name: string, value: JsonValue, exponent: CurrencyExponent): Money | undefined {
    const literal = value instanceof JsonNumber ? value.literal : value;
    if (typeof literal !== "string") return this.problem(name, "must be a string or a number");
    const money = parseMoney(literal, exponent);
    if (money !== undefined) return money;
    return this.problem(
      name,
      `must be a plain decimal with at most ${exponent} decimals, without sign, exponent or blanks`,
    );
  }

  #text(name: string, value: JsonValue, rule: TextRule): string | undefined {
    // Fast path: almost every text is plain, and then no path is built.
    if (typeof value === "string" && value.length <= rule.maxLength && PLAIN_TEXT.test(value) && !isWrong(value, rule))
      return value;
    return this.#textAt(this.#path + name, value, rule);
  }

  #textAt(path: string, value: JsonValue, rule: TextRule): string | undefined {
    if (rule.takesInteger === true && value instanceof JsonNumber && DIGITS.test(value.literal))
      return this.#textAt(path, value.literal, rule);
    if (typeof value !== "string") return this.#report(path, "must be a string");
    const text = rule.trim === true ? value.trim() : value;
    if (isLonger(text, rule.maxLength)) return this.#report(path, `must have at most ${rule.maxLength} characters`);
    if (/\p{Cc}/u.test(text)) return this.#report(path, "must not hold control characters");
    if (text.trim() === "" && rule.mayBeEmpty !== true) return this.#report(path, "must not be empty");
    if (!text.isWellFormed()) return this.#report(path, "must be well-formed Unicode");
    if (rule.isTight === true && BLANK_END.test(text))
      return this.#report(path, "must not begin or end with a blank or an unseen sign");
    return isWrong(text, rule) ? this.#report(path, identifierProblem(text) ?? "") : text;
  }
}

function isWrong(text: string, { isOfFile }: TextRule): boolean {
  return isOfFile === true && identifierProblem(text) !== undefined;
}

/** Counts characters, not UTF-16 units, as JSON Schema's maxLength does. */
function isLonger(text: string, maxLength: number): boolean {
  if (text.length <= maxLength) return false;
  return text.length > maxLength * 2 || Array.from(text).length > maxLength;
}
