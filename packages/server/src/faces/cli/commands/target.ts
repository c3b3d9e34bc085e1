import { Argument, type Command, Option } from "commander";
import { SERVICES, type Service } from "../../../domain/bouquet.ts";
import { JsonSyntaxError, readJson } from "../../../domain/json.ts";
import { DEFAULT_RADIUS_SERVICE, readRadiusConfig } from "../../../domain/radius-config.ts";
import { TARGET_KINDS, type TargetConfig, type TargetKind } from "../../../domain/target.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import { count, jsonLine, table } from "../../../office/text.ts";
import { failedData, targetData } from "../../../services/staff/data.ts";
import {
  addTarget,
  listFailed,
  listTargets,
  MAX_FAILED,
  reconcileTarget,
  removeTarget,
  resendToTarget,
  rotateTargetSecret,
  setTargetPaused,
  showTarget,
} from "../../../services/staff/targets.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import {
  differenceJson,
  differenceWords,
  FAILED_COLUMNS,
  failedRow,
  shownJson,
  shownWords,
  TARGET_COLUMNS,
} from "../output/targets.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage, withFile } from "../runtime.ts";

interface AddFlags {
  readonly kind: TargetKind;
  readonly url?: string;
  readonly config?: string;
  readonly service?: Service;
  readonly books?: boolean;
  readonly allowPrivate?: boolean;
}

const NAME = [new Argument("<NAME>", "the target's name")];

/** `topupd target ...`: the provider's systems that are told of what happens. */
export function addTargetCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "target", "the systems that are told of what happens, and how far each is");
  addStoreCommand<AddFlags>(group, runtime, {
    name: "add",
    description: "add a target, which is told of what happens from now on; a webhook's secret is printed once",
    arguments: [new Argument("<NAME>", "up to 64 letters, digits, dots, dashes and underscores")],
    options: [
      new Option("--kind <KIND>", "what it is").choices(TARGET_KINDS).makeOptionMandatory(),
      new Option("--url <URL>", "of a webhook: where events are posted"),
      new Option("--allow-private", "of a webhook: it may be at an address of a private network, or of this machine"),
      new Option("--books", "of a webhook or feed: it is your billing, which must hear of every event"),
      new Option("--config <FILE>", "of RADIUS: a JSON file with its database, zone and groups"),
      new Option("--service <SERVICE>", "of RADIUS: the only service that it serves (default: internet)").choices(
        SERVICES,
      ),
    ],
    examples: [
      "topupd target add tv --kind webhook --url https://tv.example.net/topupd",
      "topupd target add billing --kind webhook --url http://10.0.0.7:8000/events \\\n    --books --allow-private",
      "topupd target add network --kind radius --config radius.json",
      "topupd target add crm --kind feed",
    ],
    changes: true,
    run: (session, [name = ""], given) => add(session, name, given),
  });
  addStoreCommand<object>(group, runtime, {
    name: "list",
    description: "list targets, and how far each is",
    examples: ["topupd target list", "topupd target list --json"],
    async run(session) {
      const rows = (await listTargets(session)).map(targetData);
      session.show(rows, table(TARGET_COLUMNS, rows));
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "show",
    description: "show a target, how far it is, and of billing the moment for --as-of",
    arguments: NAME,
    examples: ["topupd target show billing --json"],
    async run(session, [name = ""]) {
      const shown = found(await showTarget(session, { name }), name);
      session.show(shownJson(shown), shownWords(shown));
    },
  });
  for (const [verb, paused, description] of [
    [
      "pause",
      true,
      "send a target nothing until it is resumed: events are kept for it, 30 days at most unless it is billing",
    ],
    ["resume", false, "let a paused target go on from where it is"],
  ] as const) {
    addStoreCommand<object>(group, runtime, {
      name: verb,
      description,
      arguments: NAME,
      examples: [`topupd target ${verb} tv`],
      changes: true,
      async run(session, [name = ""]) {
        found(await setTargetPaused(session, session.actor, { name, paused }), name);
        const shown = found(await showTarget(session, { name }), name);
        session.show(targetData(shown), table(TARGET_COLUMNS, [targetData(shown)]));
      },
    });
  }
  addStoreCommand<object>(group, runtime, {
    name: "failed",
    description: "list what a target did not take, or waits behind that, or is set aside, oldest first",
    arguments: NAME,
    examples: ["topupd target failed tv", "topupd target failed tv --json"],
    async run(session, [name = ""]) {
      const failed = found(await listFailed(session, { name }), name);
      session.showRows(failed.map(failedData), () => table(FAILED_COLUMNS, failed.map(failedRow)));
      if (failed.length === MAX_FAILED) runtime.stderr(`These are the oldest ${MAX_FAILED}; there may be more.\n`);
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "resend",
    description: "try again now all that a target did not take, set aside or not",
    arguments: NAME,
    examples: ["topupd target resend tv"],
    changes: true,
    async run(session, [name = ""]) {
      const resent = found(await resendToTarget(session, session.actor, { name }), name);
      session.show({ resent }, `${count(resent, "event")} will be tried again.\n`);
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "rotate",
    description: "give a webhook a new secret, printed once; the previous one signs as well for 24 hours",
    arguments: NAME,
    examples: ["topupd target rotate tv"],
    changes: true,
    async run(session, [name = ""]) {
      const { targets } = runtime;
      const rotated = await rotateTargetSecret({ ...session, targets }, session.actor, { name });
      if (rotated.kind === "no_target") throw new CommandFailed(noTarget(name));
      if (rotated.kind === "no_webhook") throw new WrongUsage(`${name} is no webhook, and has no secret`);
      const { target, secret } = rotated;
      const formerUntil = isoTime(rotated.formerUntil);
      session.show({ id: target.id, secret, formerUntil }, `${secret}\n`);
      if (session.isJson) return;
      runtime.stderr(`${SHOWN_ONCE} The previous secret signs as well until ${formerUntil}.\n`);
    },
  });
  addStoreCommand<{ readonly dryRun?: boolean }>(group, runtime, {
    name: "reconcile",
    description: "compare what a RADIUS server has with what is on record, show what differs, and correct it",
    arguments: NAME,
    options: [new Option("--dry-run", "correct nothing (exit code 3: something differs)")],
    examples: ["topupd target reconcile network --dry-run", "topupd target reconcile network"],
    changes: true,
    run: (session, [name = ""], { dryRun = false }) => reconcile(session, name, dryRun),
  });
  addStoreCommand<object>(group, runtime, {
    name: "remove",
    description: "remove a target, with all that it has not taken",
    arguments: NAME,
    examples: ["topupd target remove tv"],
    changes: true,
    async run(session, [name = ""]) {
      const { id } = found(await removeTarget(session, session.actor, { name }), name);
      session.show({ id, name, removed: true }, `${name} is removed.\n`);
    },
  });
}

async function add(session: Session, name: string, given: AddFlags): Promise<void> {
  const { runtime, isJson, show, actor } = session;
  const config = await readConfig(runtime, given);
  const ports = { ...session, targets: runtime.targets };
  const added = await addTarget(ports, actor, { name, config, books: given.books === true });
  if (added.kind === "bad_name")
    throw new WrongUsage(
      "NAME must have 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first",
    );
  if (added.kind === "bad_url") throw new WrongUsage(`the URL ${added.problem}`);
  if (added.kind === "database_taken")
    throw new CommandFailed(
      `the target ${added.by} writes into this RADIUS database already: give each target a database of its own`,
    );
  if (added.kind === "name_taken") throw new CommandFailed(`there is a target named ${name} already`);
  const { target, secret } = added;
  show({ id: target.id, ...(secret === undefined ? {} : { secret }) }, secret === undefined ? "" : `${secret}\n`);
  if (isJson) return;
  const once = secret === undefined ? "" : `${SHOWN_ONCE} `;
  const exported = target.books ? "topupd export transactions, made a minute from now" : "topupd export customers";
  const source = config.kind === "radius" ? `topupd target reconcile ${name} writes` : `it learns from ${exported}`;
  runtime.stderr(`${once}${name} is told of what happens from now on; what was before, ${source}.\n`);
}

const SHOWN_ONCE = "This is the only time that the secret is shown.";

/** Those that not all kinds have. */
const FLAGS_OF = {
  webhook: ["--url", "--allow-private", "--books"],
  radius: ["--config", "--service"],
  feed: ["--books"],
} as const;

async function readConfig(runtime: Runtime, given: AddFlags): Promise<TargetConfig> {
  const { kind, url, config, service, books, allowPrivate = false } = given;
  const said = {
    "--url": url,
    "--config": config,
    "--service": service,
    "--books": books,
    "--allow-private": given.allowPrivate,
  };
  for (const [flag, value] of Object.entries(said))
    if (value !== undefined && !FLAGS_OF[kind].some((own) => own === flag))
      throw new WrongUsage(`${flag} is not for a target of kind ${kind}`);
  switch (kind) {
    case "webhook":
      if (url === undefined) throw new WrongUsage("a webhook needs --url");
      return { kind, url, allowPrivate };
    case "radius":
      if (config === undefined) throw new WrongUsage("a target of kind radius needs --config");
      return readRadiusFile(runtime, config, service);
    case "feed":
      return { kind };
  }
}

/** @throws CommandFailed where it cannot be read, or with all that is wrong in it. */
async function readRadiusFile(
  { openFile }: Runtime,
  file: string,
  service: Service = DEFAULT_RADIUS_SERVICE,
): Promise<TargetConfig> {
  const pieces: Uint8Array[] = [];
  await withFile(file, "be read", async () => {
    for await (const piece of openFile(file)) pieces.push(piece);
  });
  try {
    const read = readRadiusConfig(readJson(Buffer.concat(pieces).toString()), service);
    if (read.ok) return read.value;
    throw new CommandFailed(`${file}: ${read.problems.map(({ field, problem }) => `${field} ${problem}`).join("; ")}`);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new CommandFailed(`${file} is no JSON: ${error.message}`);
    throw error;
  }
}

async function reconcile(session: Session, name: string, dryRun: boolean): Promise<void> {
  const { runtime, isJson } = session;
  runtime.lowerPriority();
  const ports = { ...session, targets: runtime.targets };
  const reconciled = await reconcileTarget(ports, session.actor, { name, dryRun }, (difference) =>
    runtime.stdout(isJson ? jsonLine(differenceJson(difference)) : differenceWords(difference)),
  );
  if (reconciled.kind === "no_target") throw new CommandFailed(noTarget(name));
  if (reconciled.kind === "no_radius") throw new WrongUsage(`${name} is not of kind radius`);
  if (reconciled.kind === "failed") throw new CommandFailed(reconciled.problem);
  const { compared, differing } = reconciled;
  runtime.stderr(
    `${count(compared, "user")} compared, ${differing} of them ${dryRun ? "not as on record" : "corrected"}\n`,
  );
  if (dryRun && differing > 0) throw new FoundWrong("RADIUS differs from what is on record, and nothing was corrected");
}

/** @throws CommandFailed where there is none of this name. */
function found<Found>(answer: Found | undefined, name: string): Found {
  if (answer === undefined) throw new CommandFailed(noTarget(name));
  return answer;
}

export function noTarget(name: string): string {
  return `there is no target named ${name}: topupd target list shows those that there are`;
}
