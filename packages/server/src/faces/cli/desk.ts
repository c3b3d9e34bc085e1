import { basename } from "node:path";
import type { GivenFile } from "../../office/fields.ts";
import { Uploads } from "../../office/imports/uploads.ts";
import { Jobs } from "../../office/jobs.ts";
import type { Desk } from "../../office/office.ts";
import { StatisticsCache } from "../../office/statistics/cache.ts";
import type { DeskSession } from "./command.ts";
import { isCsv, STDIO } from "./options.ts";
import { progressLine } from "./progress.ts";
import type { Runtime } from "./runtime.ts";

/** What a command gives an operation. Ctrl-C ends long work after the step under way. */
export function shellDesk({ store, clock, random, actor, runtime }: DeskSession): Desk {
  const line = progressLine(runtime);
  const goOn: Desk["goOn"] = async (work) => {
    const stopping = new AbortController();
    void runtime.untilAskedToStop().then(() => stopping.abort());
    await line.until(work(stopping.signal));
  };
  const { accounts, targets, sleep, lowerPriority: giveWay } = runtime;
  const statistics = new StatisticsCache({ store, clock });
  const known = { jobs: new Jobs(), uploads: new Uploads(), statistics, recordingFailsSince: undefined };
  const tools = { accounts, targets, ...known };
  return { store, clock, random, actor, ...tools, goOn, progress: (words) => line.show(words), giveWay, sleep };
}

/** Stdin is kept in memory: it may be read twice. */
export async function fileAt({ openFile, readStdin }: Runtime, path: string): Promise<GivenFile> {
  if (path !== STDIO) return { name: basename(path), isCsv: isCsv(path), open: () => openFile(path) };
  const bytes = Buffer.from(await readStdin());
  const open = async function* () {
    yield bytes;
  };
  return { name: "stdin", isCsv: false, open };
}
