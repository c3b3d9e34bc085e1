import type { DestinationStream } from "pino";

/** For how long, in milliseconds, a line may wait for others: nobody reads a log faster. */
const LONGEST_WAIT_MS = 100;
/** As much as is worth a write of its own. */
export const ENOUGH_BYTES = 64 * 1024;
/** As much as goes into a pipe in one piece, whoever else writes into it. */
export const WHOLE_IN_A_PIPE_BYTES = 4 * 1024;

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
 * @param most bytes of lines that are written together.
 */
export function gatherLines(destination: DestinationStream, most: number): GatheredLines {
  let lines: string[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length > 0) destination.write(lines.join(""));
    lines = [];
    bytes = 0;
  };
  const hold = (line: string) => {
    const more = Buffer.byteLength(line);
    if (bytes + more > most) release();
    lines.push(line);
    bytes += more;
    timer ??= setTimeout(release, LONGEST_WAIT_MS);
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
