import type { Runtime } from "../runtime.ts";

/** The narrowest terminal that what is printed here is made for. */
const TERMINAL_WIDTH = 80;

/** Marks that could move a terminal's cursor, colour what follows, or turn its direction round. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** What others have sent, made harmless for a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}

/** The same JSON, with such marks escaped. */
export function printableJson(data: unknown): string {
  return JSON.stringify(data).replace(UNPRINTABLE, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A word as a shell takes it, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w.@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A blank, but for the one in a time such as `2026-11-20 09:00:00`. */
const BREAK = / (?!\d\d:\d\d:\d\d)/;

/**
 * Breaks text at its blanks, so that no line is wider than a terminal, but where a word is.
 * @param hanging the indent of all lines but the first.
 */
export function wrap(text: string, indent: string, hanging = indent): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(BREAK)) {
    const { length } = lines.length === 0 ? indent : hanging;
    if (line !== "" && length + line.length + 1 + word.length > TERMINAL_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return `${[...lines, line].map((each, index) => `${index === 0 ? indent : hanging}${each}`).join("\n")}\n`;
}

/** Names and values, a line for each; what is undefined is left out. */
export function printFields(runtime: Runtime, fields: readonly (readonly [name: string, value: string | undefined])[]) {
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) {
    if (value !== undefined) runtime.stdout(`${name.padEnd(width)}  ${printable(value)}\n`);
  }
}

/** `1 month`, `3 months`. */
export function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}
