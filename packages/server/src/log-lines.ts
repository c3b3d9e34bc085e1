import type { DestinationStream } from "pino";

/** For how long, in milliseconds, a line may wait for others: nobody reads a log faster. */
const LONGEST_WAIT_MS = 100;
/** As much as is worth a write of its own. */
const ENOUGH_CHARACTERS = 64 * 1024;

const MAY_WAIT = /^\{"level":"(?:debug|info)"/;

/** Where lines are gathered. */
export interface GatheredLines extends DestinationStream {
  /** Takes a line that may wait, and does not look at it. */
  readonly hold: (line: string) => void;
}

/**
 * Lets log lines go on together: under load, to write a line costs many times what it costs to make one. A
 * warning or an error waits for nothing, and takes along what came before it. The process does not end while
 * lines wait.
 */
export function gatherLines(destination: DestinationStream): GatheredLines {
  let lines: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) destination.write(lines.join(""));
    lines = [];
    characters = 0;
  };
  const hold = (line: string) => {
    lines.push(line);
    characters += line.length;
    if (characters >= ENOUGH_CHARACTERS) release();
    else timer ??= setTimeout(release, LONGEST_WAIT_MS);
  };
  return {
    hold,
    write(line) {
      if (MAY_WAIT.test(line)) {
        hold(line);
        return;
      }
      release();
      // By itself: where there is room for little more, it is not dropped with what it came after.
      destination.write(line);
    },
  };
}
