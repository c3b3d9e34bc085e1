import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandFailed } from "./failures.ts";
import type { Runtime } from "./runtime.ts";

const PROGRESS_MS = 300;

/** One line of progress that is overwritten a few times a second. Nothing is written if stderr is no terminal. */
export function progressLine({ isTerminal, stderr, clock }: Runtime) {
  let shownAt = 0;
  const clear = () => {
    if (shownAt > 0) stderr("\r\u001b[K");
  };
  return {
    clear,
    until: <Result>(work: Promise<Result>): Promise<Result> => work.finally(clear),
    show(text: string): void {
      if (!isTerminal || clock() - shownAt < PROGRESS_MS) return;
      shownAt = clock();
      stderr(`\r\u001b[K${text}`);
    },
  };
}

/** Asks a question at a terminal without echoing the answer. @throws CommandFailed if the person cancels. */
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
    lines.once("close", () => reject(new CommandFailed("cancelled: nothing was changed")));
  }).finally(() => {
    lines.close();
    output.write("\n");
  });
}

/** Asks a question at a terminal. @throws CommandFailed if the person cancels. */
export function askOpenly(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    lines.once("close", () => reject(new CommandFailed("cancelled: run topupd setup again to continue")));
    lines.question(question, resolve);
  }).finally(() => lines.close());
}
