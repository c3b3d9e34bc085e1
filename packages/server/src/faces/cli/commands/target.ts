import { Argument, type Command, Option } from "commander";
import { SERVICES, type Service } from "../../../domain/bouquet.ts";
import { JsonSyntaxError, readJson } from "../../../domain/json.ts";
import { TARGET_KINDS, type TargetKind } from "../../../domain/target.ts";
import { readInput } from "../../../office/input.ts";
import { officeOf, perform } from "../../../office/office.ts";
import { Refused } from "../../../office/refused.ts";
import { addTarget } from "../../../office/targets/operations.ts";
import { reconcileTarget } from "../../../office/targets/radius.ts";
import { addedLines, differenceData, differenceLine } from "../../../office/targets/words.ts";
import { count, jsonLine } from "../../../office/text.ts";
import { addStoreCommand, groupNamed, type Session } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { print } from "../operation-command.ts";
import { refusalOf } from "../refusal.ts";
import { CommandFailed, FoundWrong, type Runtime, WrongUsage, withFile } from "../runtime.ts";

interface AddFlags {
  readonly kind: TargetKind;
  readonly url?: string;
  readonly config?: string;
  readonly service?: Service;
  readonly billing?: boolean;
  readonly allowPrivate?: boolean;
}

/** Adds `topupd target add`, whose flags depend on the kind, and `reconcile`, which prints while it works. */
export function addTargetCommands(program: Command, runtime: Runtime): void {
  const group = groupNamed(program, "target");
  addStoreCommand<AddFlags>(group, runtime, {
    name: "add",
    description: "add a target, which gets the events from now on; the secret of a webhook is printed once",
    arguments: [new Argument("<NAME>", "up to 64 letters, digits, dots, dashes and underscores")],
    options: [
      new Option("--kind <KIND>", "what it is").choices(TARGET_KINDS).makeOptionMandatory(),
      new Option("--url <URL>", "where the events of a webhook are posted"),
      new Option("--allow-private", "the webhook may be in a private network, or on this machine"),
      new Option("--billing", "the webhook or feed is your billing, which must get every event"),
      new Option("--config <FILE>", "a JSON file with the database, zone and groups of RADIUS"),
      new Option("--service <SERVICE>", "the only service of RADIUS (default: internet)").choices(SERVICES),
    ],
    examples: [
      "topupd target add tv --kind webhook --url https://tv.example.net/topupd",
      "topupd target add billing --kind webhook --url http://10.0.0.7:8000/events \\\n    --billing --allow-private",
      "topupd target add network --kind radius --config radius.json",
      "topupd target add crm --kind feed",
    ],
    changes: true,
    run: (session, [name = ""], given) => add(session, name, given),
  });
  addStoreCommand<{ readonly preview?: boolean }>(group, runtime, {
    name: "reconcile",
    description: "compare what a RADIUS server has with the records, print what differs, and correct it",
    arguments: [new Argument("<NAME>", "name of the target")],
    options: [new Option("--preview", "correct nothing (exit code 3: something differs)")],
    examples: ["topupd target reconcile network --preview", "topupd target reconcile network"],
    changes: true,
    run: (session, [name = ""], { preview = false }) => reconcile(session, name, preview),
  });
}

/** Flags by what the operation calls them. */
const FLAGS: Readonly<Record<string, string>> = { name: "NAME", "webhook.url": "--url" };

async function add(session: Session, name: string, given: AddFlags): Promise<void> {
  const { kind, url, config, service, billing, allowPrivate } = given;
  refuseOthers(given);
  const said = {
    name,
    ...(billing && { billing }),
    ...(kind === "webhook" && { webhook: { url, ...(allowPrivate && { allowPrivate }) } }),
    ...(kind === "radius" && {
      radius: { ...(await readConfig(session.runtime, config)), ...(service && { service }) },
    }),
  };
  try {
    const input = readInput(addTarget.input, said) as Parameters<typeof addTarget.run>[1];
    print(session, await perform(addTarget, shellDesk(session), input), addedLines);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw refusalOf(error, (field) => FLAGS[field] ?? field, FLAGS);
  }
}

/** Flags of each kind that not all kinds have. */
const FLAGS_OF = {
  webhook: ["url", "allowPrivate", "billing"],
  radius: ["config", "service"],
  feed: ["billing"],
} as const;

/** @throws WrongUsage */
function refuseOthers(given: AddFlags): void {
  const { kind } = given;
  const flags = {
    url: "--url",
    config: "--config",
    service: "--service",
    billing: "--billing",
    allowPrivate: "--allow-private",
  };
  for (const [name, flag] of Object.entries(flags) as [keyof typeof flags, string][])
    if (given[name] !== undefined && !FLAGS_OF[kind].some((own) => own === name))
      throw new WrongUsage(`${flag} is not for a target of kind ${kind}`);
  if (kind === "webhook" && given.url === undefined) throw new WrongUsage("a webhook needs --url");
  if (kind === "radius" && given.config === undefined) throw new WrongUsage("a target of kind radius needs --config");
}

/** @throws CommandFailed if it cannot be read, without what is secret in it. */
async function readConfig({ openFile }: Runtime, file = ""): Promise<object> {
  const pieces: Uint8Array[] = [];
  await withFile(file, "be read", async () => {
    for await (const piece of openFile(file)) pieces.push(piece);
  });
  const text = Buffer.concat(pieces).toString();
  try {
    readJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new CommandFailed(`${file} is no JSON: ${error.message}`);
    throw error;
  }
  return JSON.parse(text);
}

async function reconcile(session: Session, name: string, preview: boolean): Promise<void> {
  const { runtime, isJson } = session;
  runtime.lowerPriority();
  const office = officeOf(shellDesk(session), { preview });
  const { compared, differing } = await reconcileTarget(office, name, (difference) =>
    runtime.stdout(isJson ? jsonLine(differenceData(difference)) : differenceLine(difference)),
  );
  runtime.stderr(
    `${count(compared, "user")} compared, ${differing} of them ${preview ? "not as on record" : "corrected"}\n`,
  );
  if (preview && differing > 0)
    throw new FoundWrong("RADIUS differs from what is on record, and nothing was corrected");
}
