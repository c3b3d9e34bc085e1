import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandFailed } from "./runtime.ts";

/** Asks somebody at a terminal, which does not show what is typed. @throws CommandFailed where it is broken off. */
export function askSecretly(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  output.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    lines.once("line", resolve);
    lines.once("close", () => reject(new CommandFailed("broken off: nothing is changed")));
  }).finally(() => {
    lines.close();
    output.write("\n");
  });
}
