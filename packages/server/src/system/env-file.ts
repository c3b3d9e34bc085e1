/* Environment files, as systemd reads them: a line NAME=value for each setting. */

/** A setting in a line of the file, also one that is commented out. */
const LINE = /^(#?)\s*(TOPUPD_\w+)=(.*)$/;
/** Values that need no quotes, also for a shell. */
const PLAIN = /^[\w:/.,@%+=-]+$/;

/** The settings of a file by name. Of several lines with the same name, the last counts. */
export function readEnvFile(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).map((line) => LINE.exec(line));
  return Object.fromEntries(
    lines.flatMap((found) => (found?.[1] === "" ? [[found[2] as string, unquoted(found[3] as string)]] : [])),
  );
}

/** Changes the lines of some settings, and keeps all others. A setting without a line gets its commented one, or a new one. */
export function changeEnvFile(text: string, values: Readonly<Record<string, string>>): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  for (const [name, value] of Object.entries(values)) {
    const at = (sign: string) =>
      lines.findLastIndex((line) => LINE.exec(line)?.[2] === name && LINE.exec(line)?.[1] === sign);
    const place = [at(""), at("#")].find((index) => index >= 0) ?? lines.length;
    lines[place] = `${name}=${quoted(value)}`;
  }
  return lines.map((line) => `${line}\n`).join("");
}

function unquoted(value: string): string {
  const [, mark, inside] = /^(["'])(.*)\1\s*$/.exec(value.trim()) ?? [];
  if (inside === undefined) return value.trim();
  return mark === '"' ? inside.replace(/\\(["\\$`])/g, "$1") : inside;
}

function quoted(value: string): string {
  return PLAIN.test(value) ? value : `"${value.replace(/["\\$`]/g, "\\$&")}"`;
}
