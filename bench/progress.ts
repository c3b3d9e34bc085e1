/** Tells whoever waits what is under way; the results alone go to stdout. */
export function say(what: string): void {
  process.stderr.write(`${what} ...\n`);
}
