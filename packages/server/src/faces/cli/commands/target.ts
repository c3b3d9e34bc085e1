import { Argument, type Command, Option } from "commander";
import { SERVICES, type Service } from "../../../domain/bouquet.ts";
import { decodeUtf8, JsonSyntaxError, readJson } from "../../../domain/json.ts";
import { Refused } from "../../../domain/refused.ts";
import { TARGET_KINDS, type TargetKind } from "../../../domain/target.ts";
import { MOST_ON_A_PAGE } from "../../../office/common.ts";
import { readInput } from "../../../office/input.ts";
import { officeOf } from "../../../office/office.ts";
import { perform } from "../../../office/operation.ts";
import { changeTarget } from "../../../office/targets/change.ts";
import { listEvents } from "../../../office/targets/events.ts";
import { addTarget } from "../../../office/targets/operations.ts";
import { addedLines, changedLines, differenceData, differenceLine } from "../../../office/targets/presenter.ts";
import { reconcileTarget } from "../../../office/targets/radius.ts";
import { count, jsonLine } from "../../../office/text.ts";
import { addStoreCommand, groupNamed, type Session } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { CommandFailed, FoundWrong, refusalOf, WrongUsage, withFile } from "../failures.ts";
import { print } from "../operation-command.ts";
import type { Runtime } from "../runtime.ts";

interface AddFlags {
  readonly kind: TargetKind;
  readonly url?: string;
  readonly config?: string;
  readonly service?: Service;
  readonly billing?: boolean;
}

/** Adds `topupd target add`, whose flags depend on the kind, `change`, and `reconcile`, which prints while it works. */
export function addTargetCommands(program: Command, runtime: Runtime): void {
  const group = groupNamed(program, "target");
  addStoreCommand<AddFlags>(group, runtime, {
    name: "add",
    description: "add a target, which receives all events from now on; a webhook's secret is printed once",
    arguments: [new Argument("<NAME>", "name of up to 64 letters, digits, dots, dashes and underscores")],
    options: [
      new Option("--kind <KIND>", "kind of the target").choices(TARGET_KINDS).makeOptionMandatory(),
      new Option("--url <URL>", "URL that receives a webhook's events"),
      new Option("--billing", "mark the webhook or feed as your billing, which must receive every event"),
      new Option("--config <FILE>", "JSON file with the database, time zone and groups of RADIUS"),
      new Option("--service <SERVICE>", "service that RADIUS serves (default: internet)").choices(SERVICES),
    ],
    examples: [
      "topupd target add tv --kind webhook --url https://tv.example.net/topupd",
      "topupd target add billing --kind webhook --url http://10.0.0.7:8000/events \\\n    --billing",
      "topupd target add network --kind radius --config radius.json",
      "topupd target add crm --kind feed",
    ],
    changes: true,
    run: (session, [name = ""], given) => add(session, name, given),
  });
  addStoreCommand<{ readonly config: string }>(group, runtime, {
    name: "change",
    description: "replace the file of a RADIUS target, which keeps its place in the events",
    arguments: [new Argument("<NAME>", "name of the target")],
    options: [new Option("--config <FILE>", "JSON file as for target add").makeOptionMandatory()],
    examples: ["topupd target change network --config radius.json"],
    changes: true,
    run: (session, [name = ""], { config }) => change(session, name, config),
  });
  addStoreCommand<{ readonly preview?: boolean }>(group, runtime, {
    name: "reconcile",
    description: "compare a RADIUS server with the records here, print differences and fix them",
    arguments: [new Argument("<NAME>", "name of the target")],
    options: [new Option("--preview", "fix nothing (exit code 3: something differs)")],
    examples: ["topupd target reconcile network --preview", "topupd target reconcile network"],
    changes: true,
    run: (session, [name = ""], { preview = false }) => reconcile(session, name, preview),
  });
}

/** Flags by the names of the operation's inputs. */
const FLAGS: Readonly<Record<string, string>> = { name: "NAME", "webhook.url": "--url" };

async function add(session: Session, name: string, given: AddFlags): Promise<void> {
  const { kind, url, config, service, billing } = given;
  refuseOthers(given);
  const said = {
    name,
    ...(billing && { billing }),
    ...(kind === "webhook" && { webhook: { url } }),
    ...(kind === "radius" && {
      radius: { ...(await readConfig(session.runtime, config)), ...(service && { service }) },
    }),
  };
  await refusing(async () => {
    const input = readInput(addTarget.input, said) as Parameters<typeof addTarget.run>[1];
    print(session, await perform(addTarget, shellDesk(session), input), addedLines);
  });
}

async function change(session: Session, name: string, file: string): Promise<void> {
  const said = { name, radius: await readConfig(session.runtime, file) };
  await refusing(async () => {
    const input = readInput(changeTarget.input, said) as Parameters<typeof changeTarget.run>[1];
    print(session, await perform(changeTarget, shellDesk(session), input), changedLines);
  });
}

/** Names flags in place of the operation's inputs. */
async function refusing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw refusalOf(error, (field) => FLAGS[field] ?? field, FLAGS);
  }
}

/** Flags that only some kinds of target have. */
const FLAGS_OF = {
  webhook: ["url", "billing"],
  radius: ["config", "service"],
  feed: ["billing"],
} as const;

/** @throws WrongUsage */
function refuseOthers(given: AddFlags): void {
  const { kind } = given;
  const flags = { url: "--url", config: "--config", service: "--service", billing: "--billing" };
  for (const [name, flag] of Object.entries(flags) as [keyof typeof flags, string][])
    if (given[name] !== undefined && !FLAGS_OF[kind].some((own) => own === name))
      throw new WrongUsage(`a target of kind ${kind} has no ${flag}`);
  if (kind === "webhook" && given.url === undefined) throw new WrongUsage("a webhook needs --url");
  if (kind === "radius" && given.config === undefined) throw new WrongUsage("a target of kind radius needs --config");
}

/** @throws CommandFailed without the file's contents, which include a password. */
async function readConfig({ openFile }: Runtime, file = ""): Promise<object> {
  const pieces: Uint8Array[] = [];
  await withFile(file, "be read", async () => {
    for await (const piece of openFile(file)) pieces.push(piece);
  });
  const text = decodeUtf8(Buffer.concat(pieces));
  if (text === undefined) throw new CommandFailed(`${file} is not UTF-8`);
  try {
    readJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new CommandFailed(`${file} ${error.message}`);
    throw error;
  }
  return JSON.parse(text);
}

async function reconcile(session: Session, name: string, preview: boolean): Promise<void> {
  const { runtime, isJson } = session;
  runtime.lowerPriority();
  const office = officeOf(shellDesk(session), { preview });
  const left = { username: new Set<string>(), "first group": new Set<string>() };
  const { compared, differing } = await reconcileTarget(office, name, (difference) => {
    const { kind, username } = difference;
    if (kind === "username" || kind === "first group") left[kind].add(username);
    runtime.stdout(isJson ? jsonLine(differenceData(difference)) : differenceLine(difference));
  });
  const result = preview ? `${differing} differ` : `${differing - left.username.size} fixed`;
  runtime.stderr(`${count(compared, "user")} compared, ${result}\n`);
  const [{ size: inOtherCase }, { size: hidden }] = [left.username, left["first group"]];
  if (inOtherCase > 0)
    throw new FoundWrong(`RADIUS has ${count(inOtherCase, "username")} in other case only: correct it there, or here`);
  if (hidden > 0)
    throw new FoundWrong(
      `RADIUS has ${count(hidden, "user")} with a group of yours that comes first: correct it there`,
    );
  if (preview && differing > 0)
    throw new FoundWrong("RADIUS differs from the records, and nothing was fixed: run it without --preview");
}

interface EventsFlags {
  readonly target: string;
  readonly after?: string;
  readonly follow?: boolean;
}

/** Interval of `--follow` between looks for new events. */
const LOOK_EVERY_MS = 250;

/** Adds `topupd events`, which prints the events that a feed has not confirmed and, with `--follow`, new ones. */
export function addEventsCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<EventsFlags>(program, runtime, {
    name: "events",
    description: "print the events of a feed as NDJSON, oldest first; the last line is a cursor",
    options: [
      new Option("--target <NAME>", "name of a target of kind feed").makeOptionMandatory(),
      new Option(
        "--after <CURSOR>",
        "continue after this cursor or event id, and confirm all events up to it (default, also for null: the last confirmed one)",
      ),
      new Option("--follow", "print new events too, until SIGTERM or Ctrl-C"),
    ],
    examples: [
      "topupd events --target crm",
      "topupd events --target crm --after evt_1795424707512_4117",
      "topupd events --target crm --follow",
    ],
    json: false,
    async run(session, _, { target, after, follow = false }) {
      // The cursor of a feed without events is null.
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

/** @param following aborted to end the command; undefined to end after the existing events. */
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
    // A later run confirms these events by its cursor.
    page = await read(last === undefined ? { target } : { after: last });
  }
  yield Buffer.from(jsonLine({ cursor: last ?? null }));
}
