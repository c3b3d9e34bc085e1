import { isObject } from "./read-json.ts";

const HIDDEN = "[access token]";

/** Deeper than any honest answer, and far from where a program's stack ends. */
const MAX_DEPTH = 100;

/** Takes the access token out of a text or a JSON value, in case an answer or an error repeats the request. */
export type Redact = <Value>(value: Value) => Value;

export function redactor(token: string): Redact {
  const inJson = JSON.stringify(token).slice(1, -1);
  // Some programs write JSON with slashes escaped.
  const spellings = [...new Set([token, inJson, inJson.replaceAll("/", "\\/")])];
  const hide = (text: string) => spellings.reduce((rest, spelling) => rest.replaceAll(spelling, HIDDEN), text);
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return hide(value);
    if (depth === MAX_DEPTH) return "[nested too deep]";
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [hide(name), walk(item, depth + 1)]));
  };
  return ((value: unknown) => walk(value, 0)) as Redact;
}
