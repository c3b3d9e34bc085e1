import { type DestinationStream, pino } from "pino";

/** For how long, in milliseconds, a line may wait for others: nobody reads a log faster. */
const LONGEST_WAIT_MS = 100;
/** As much as is worth a write of its own. */
const ENOUGH_CHARACTERS = 64 * 1024;

const LAST_SETTLED_LEVEL = pino.levels.values["info"] as number;

/** What pino sets before it writes a line. */
interface WithLevel extends DestinationStream {
  readonly [key: symbol]: true;
  lastLevel: number;
}

/**
 * Lets log lines go on together: under load, to write a line costs many times what it costs to make one. A
 * warning or an error waits for nothing, and takes along what came before it. The process does not end while
 * lines wait.
 */
export function gatherLines(destination: DestinationStream): DestinationStream {
  let lines: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
    destination.write(lines.join(""));
    lines = [];
    characters = 0;
  };
  const gathering: WithLevel = {
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line) {
      lines.push(line);
      characters += line.length;
      if (gathering.lastLevel > LAST_SETTLED_LEVEL || characters >= ENOUGH_CHARACTERS) release();
      else timer ??= setTimeout(release, LONGEST_WAIT_MS);
    },
  };
  return gathering;
}
