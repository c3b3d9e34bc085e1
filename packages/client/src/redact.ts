import { isObject } from "./read-json.ts";

const HIDDEN = "[access token]";

/** Shorter parts of a token are useless. */
const TELLING_LENGTH = 16;

/** Deeper than any normal answer, and far below the limit of the stack. */
const MAX_DEPTH = 100;

/** Removes the access token from a text or JSON value: an answer or error may quote the request. */
export type Redact = <Value>(value: Value) => Value;

export function redactor(token: string): Redact {
  const spellings = spellingsOf(token);
  const hide = (text: string) => {
    const rest = spellings.reduce((hidden, spelling) => hidden.replaceAll(spelling, HIDDEN), text);
    return spellings.reduce(hideBeginning, rest);
  };
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return hide(value);
    if (depth === MAX_DEPTH) return "[nested too deep]";
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [hide(name), walk(item, depth + 1)]));
  };
  return ((value: unknown) => walk(value, 0)) as Redact;
}

/** The token as JSON, JavaScript and HTML may write it. */
function spellingsOf(token: string): string[] {
  const inJson = JSON.stringify(token).slice(1, -1);
  const escaped = (hex: (code: string) => string) =>
    token.replace(/[^A-Za-z0-9_]/g, (mark) => `\\u${hex(mark.charCodeAt(0).toString(16).padStart(4, "0"))}`);
  const upper = escaped((code) => code.toUpperCase());
  const lower = escaped((code) => code);
  const html = [/[&<>]/g, /[&<>"']/g].map((marks) => token.replace(marks, (mark) => HTML[mark] as string));
  return [...new Set([token, inJson, inJson.replaceAll("/", "\\/"), upper, lower, ...html])];
}

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** A truncated answer may end within the token. */
function hideBeginning(text: string, spelling: string): string {
  for (let length = spelling.length - 1; length >= TELLING_LENGTH; length -= 1) {
    if (text.endsWith(spelling.slice(0, length))) return text.slice(0, -length) + HIDDEN;
  }
  return text;
}
