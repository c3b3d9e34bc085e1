import type { Runtime } from "./runtime.ts";

const PROGRESS_MS = 300;

/** One line on a terminal that is written over and over, a few times a second; nothing where nobody watches. */
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
