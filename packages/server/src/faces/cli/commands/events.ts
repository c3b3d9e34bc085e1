import { type Command, Option } from "commander";
import { MOST_ON_A_PAGE } from "../../../office/common.ts";
import { perform } from "../../../office/office.ts";
import { listEvents } from "../../../office/targets/events.ts";
import { jsonLine } from "../../../office/text.ts";
import { addStoreCommand, type Session } from "../command.ts";
import { shellDesk } from "../desk.ts";
import type { Runtime } from "../runtime.ts";

interface EventsFlags {
  readonly target: string;
  readonly after?: string;
  readonly follow?: boolean;
}

/** How often somebody who follows looks for news. */
const LOOK_EVERY_MS = 250;

/** Adds `topupd events`, which prints what a feed has not taken in, and goes on with what happens. */
export function addEventsCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<EventsFlags>(program, runtime, {
    name: "events",
    description: "print the events of a feed as NDJSON, oldest first, and a cursor in the last line",
    options: [
      new Option("--target <NAME>", "a target of kind feed").makeOptionMandatory(),
      new Option(
        "--after <CURSOR>",
        "continue after this cursor, or event id: all up to there was taken in (default, and null: from the place of the feed)",
      ),
      new Option("--follow", "go on with what happens, until SIGTERM or Ctrl-C"),
    ],
    examples: [
      "topupd events --target crm",
      "topupd events --target crm --after evt_1795424707512_4117",
      "topupd events --target crm --follow",
    ],
    json: false,
    async run(session, _, { target, after, follow = false }) {
      // A feed that has had no event yet gives null as its cursor.
      const cursor = after === "null" ? undefined : after;
      const desk = shellDesk(session);
      const read = (input: object) => perform(listEvents, desk, { ...input, limit: MOST_ON_A_PAGE });
      const first = await read({ target, ...(cursor !== undefined && { after: cursor }) });
      const stopping = new AbortController();
      const stop = () => stopping.abort();
      if (follow) runtime.untilAskedToStop({ hangUp: true }).then(stop, stop);
      await runtime.streamOut(
        eventLines(session, { first, cursor, target, read }, follow ? stopping.signal : undefined),
      );
    },
  });
}

type Page = Awaited<ReturnType<typeof listEvents.run>>;

interface Reading {
  readonly first: Page;
  readonly cursor: string | undefined;
  readonly target: string;
  readonly read: (input: object) => Promise<Page>;
}

/** @param following undefined to end with what there is; otherwise aborted when it is to end. */
async function* eventLines(
  { runtime }: Session,
  { first, cursor, target, read }: Reading,
  following: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let [page, last] = [first, cursor];
  for (;;) {
    if (page.items.length > 0) yield Buffer.from(page.items.map(jsonLine).join(""));
    last = page.cursor ?? last;
    const isEnd = page.items.length < MOST_ON_A_PAGE;
    if (following?.aborted === true || (isEnd && following === undefined)) break;
    if (isEnd) await runtime.sleep(LOOK_EVERY_MS, following);
    // Only a later run, with the cursor, says that these were taken in.
    page = await read(last === undefined ? { target } : { after: last });
  }
  yield Buffer.from(jsonLine({ cursor: last ?? null }));
}
