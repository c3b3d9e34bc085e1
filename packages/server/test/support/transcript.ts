import { existsSync, readFileSync } from "node:fs";
import { expect } from "vitest";

/*
 * A transcript is a text file of lines that are played and, indented below each, what was answered. The test plays the
 * lines and expects the same text; `vitest run -u` writes the new text.
 */

/** Plays each line of a transcript that is not indented. A line that begins with `#` is a heading. */
export async function expectTranscript(path: string, play: (line: string) => Promise<string>): Promise<string[]> {
  const lines = existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => /^\S/.test(line))
    : [];
  const names = new Names();
  let text = "";
  for (const line of lines) {
    const answer = line.startsWith("#") ? "" : names.give(await play(names.expand(line)));
    text += `${line.startsWith("#") && text !== "" ? "\n" : ""}${line}\n${answer.replace(/^(?=.*\S)/gm, "  ")}`;
  }
  await expect(text).toMatchFileSnapshot(path);
  return lines;
}

/** Identifiers and secrets that are random, by the names under which transcripts have them. */
const RANDOM: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["txn", /\b[0-9A-HJKMNP-TV-Z]{26}\b/g],
  ["tok", /\btok_[0-9a-f]{18}\b/g],
  ["evt", /\bevt_\d+_\d+\b/g],
  ["ses", /\bses_\w{12,}/g],
  ["digest", /\b[0-9a-f]{64}\b/g],
  ["checkout", /\b[\w-]{64}(?![\w-])/g],
  ["secret", /\b(?:topup_(?:live|trial|staff|target)_\w{49}|whsec_[\w+/]+=*|[A-Z2-7]{32}\b)/g],
  ["id", /(?<="id":")(?:[\w-]{12}|[0-9a-f]{18})(?=")/g],
  ["held", /(?<=\{"id":)\d{13}(?=,"line":)/g],
];

/** Names for random values, such as `$txn1` for the first transaction. */
class Names {
  readonly #values = new Map<string, string>();

  /** The text with names in the place of values. In a table a name takes the room of its value. */
  give(text: string): string {
    return RANDOM.reduce(
      (named, [name, pattern]) =>
        named.replace(pattern, (value, at: number, all: string) => {
          const given = this.#nameOf(name, value);
          return all.startsWith("  ", at + value.length) ? given.padEnd(value.length) : given;
        }),
      text,
    );
  }

  /** The line with values in the place of names. */
  expand(line: string): string {
    return line.replace(/\$[a-z]+\d+/g, (name) => this.#values.get(name) ?? name);
  }

  #nameOf(name: string, value: string): string {
    for (const [given, known] of this.#values) if (known === value) return given;
    const count = [...this.#values.keys()].filter((given) => given.replace(/\d+$/, "") === `$${name}`).length;
    this.#values.set(`$${name}${count + 1}`, value);
    return `$${name}${count + 1}`;
  }
}
