import { type Command, Option } from "commander";
import { eventId, toldEvent } from "../../../domain/event.ts";
import { jsonLine } from "../../../office/text.ts";
import { type FeedOpened, openFeed, readEvents } from "../../../services/staff/targets.ts";
import { addStoreCommand, type Session } from "../command.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { noTarget } from "./target.ts";

interface EventsFlags {
  readonly target: string;
  readonly after?: string;
  readonly follow?: boolean;
}

/** How often somebody who follows looks for news. */
const LOOK_EVERY_MS = 250;

/** `topupd events`: what a target of kind feed has not taken in. */
export function addEventsCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<EventsFlags>(program, runtime, {
    name: "events",
    description: "print the events of a feed as NDJSON, oldest first, and a cursor in the last line",
    options: [
      new Option("--target <NAME>", "a target of kind feed").makeOptionMandatory(),
      new Option(
        "--after <CURSOR>",
        "go on after this cursor, or event id: all up to there was taken in (default, and null: where the feed is)",
      ),
      new Option("--follow", "go on with what happens, until SIGTERM or Ctrl-C"),
    ],
    examples: [
      "topupd events --target crm",
      "topupd events --target crm --after evt_1795424707512_4117",
      "topupd events --target crm --follow",
    ],
    json: false,
    async run(session, _, { target: name, after, follow = false }) {
      // Of a feed that has had no event yet, null is the cursor that a script is told, and gives.
      const cursor = after === "null" ? undefined : after;
      const opened = await openFeed(session, { name, cursor });
      if (opened.kind !== "opened") throw new CommandFailed(refusal(opened, name));
      const stopping = new AbortController();
      const stop = () => stopping.abort();
      if (follow) runtime.untilAskedToStop({ hangUp: true }).then(stop, stop);
      // A reader who has seen enough is told nothing more.
      await runtime.streamOut(eventLines(session, opened.after, cursor, follow ? stopping.signal : undefined));
    },
  });
}

/** @param following undefined to end with what there is; otherwise aborted when it is to end. */
async function* eventLines(
  session: Session,
  after: number,
  cursor: string | undefined,
  following: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const { zone, currencyExponent } = session.store.provider;
  let [last, place] = [cursor, after];
  do {
    for await (const events of readEvents(session, { after: place })) {
      yield Buffer.from(events.map((event) => jsonLine(toldEvent(event, zone, currencyExponent))).join(""));
      for (const event of events.slice(-1)) [last, place] = [eventId(event), event.seq];
      if (following?.aborted === true) break;
    }
    if (following?.aborted === false) await session.runtime.sleep(LOOK_EVERY_MS, following);
  } while (following?.aborted === false);
  yield Buffer.from(jsonLine({ cursor: last ?? null }));
}

function refusal({ kind }: Exclude<FeedOpened, { kind: "opened" }>, name: string): string {
  switch (kind) {
    case "no_target":
      return noTarget(name);
    case "no_feed":
      return `${name} is no feed: topupd serve sends it its events`;
    case "paused":
      return `${name} is paused: topupd target resume ${name} lets it go on`;
    case "unknown_cursor":
      return "this cursor is of no event that is kept: leave out --after to go on from where the feed is, and take the state from topupd export customers";
  }
}
