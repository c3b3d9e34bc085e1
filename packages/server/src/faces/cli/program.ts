import { Command, CommanderError } from "commander";
import { ConfigError } from "../../config.ts";
import { Refused } from "../../domain/refused.ts";
import type { Operation } from "../../office/operation.ts";
import { SettingsRefused, StoreRefused, StoreUnavailable } from "../../store/errors.ts";
import { addGroup, examples, examplesOf } from "./command.ts";
import { CommandFailed, FoundWrong, namingOf, refusalOf, WrongUsage } from "./failures.ts";
import type { Runtime } from "./runtime.ts";

/** Exit codes. A scheduler can tell a command that failed from one that was done and found something wrong. */
const EXIT = { done: 0, failed: 1, wrongUsage: 2, foundWrong: 3 } as const;

/** The first words of all commands, under the headings of the help. */
const COMMANDS: readonly (readonly [heading: string, words: readonly string[]])[] = [
  ["Run the service:", ["setup", "serve", "demo"]],
  ["Set up partners and the catalogue:", ["partner", "token", "import", "catalogue", "trial"]],
  ["Set up staff:", ["staff"]],
  ["Look things up:", ["customer", "transaction", "why", "export", "audit"]],
  ["Make corrections:", ["connection", "subscription", "bulk", "approval"]],
  ["Send events to other systems:", ["target", "events"]],
  ["Settle with partners:", ["report", "reconcile", "tax", "shift"]],
  ["Maintain the database:", ["migrate", "check", "prune", "secret", "copy", "backup", "restore"]],
];

/** Descriptions of the groups of commands. */
const GROUPS: Readonly<Record<string, string>> = {
  customer: "list and show customers",
  audit: "list, verify and export what staff and imports have changed",
  partner: "manage partners, their limits and their accounts",
  staff: "manage the accounts of staff and the keys of the staff API",
  "staff key": "manage API keys of your other systems",
  token: "issue, rotate, list and revoke access tokens",
  transaction: "list, show and reverse top-ups",
  connection: "block and unblock connections",
  subscription: "give goodwill days, and reverse them",
  bulk: "give goodwill, block or unblock for a list of connections",
  approval: "list changes that wait for a second person",
  catalogue: "change one bouquet, or go back to an earlier catalogue",
  import: "import a catalogue or customers from an NDJSON or CSV file",
  report: "report what partners owe",
  tax: "manage taxes contained in prices",
  export: "write the catalogue, customers, transactions, shifts or a settlement to a file",
  shift: "list the shifts of sellers",
  secret: "list and rotate the secrets that seal checkoutIds",
  target: "manage the systems that receive events",
  trial: "reset the trial environment",
};

type Add = (program: Command, runtime: Runtime) => void;

const accounts = () => import("../../office/accounts/operations.ts");
const commission = () => import("../../office/accounts/commission.ts");
const taxes = () => import("../../office/taxes/operations.ts");
const statement = () => import("../../office/accounts/statement.ts");
const bulk = () => import("../../office/bulk/operations.ts");
const approvals = () => import("../../office/approvals/operations.ts");
const audit = () => import("../../office/audit/operations.ts");
const partners = () => import("../../office/partners/operations.ts");
const practice = () => import("../../office/practice/operations.ts");
const staff = () => import("../../office/staff/operations.ts");
const staffKeys = () => import("../../office/staff/keys.ts");
const tokens = () => import("../../office/partners/tokens.ts");
const transactions = () => import("../../office/transactions/operations.ts");
const corrections = () => import("../../office/corrections/operations.ts");
const catalogue = () => import("../../office/catalogue/operations.ts");
const customers = () => import("../../office/customers/operations.ts");
const imports = () => import("../../office/imports/operations.ts");
const settlement = () => import("../../office/settlement/operations.ts");
const shifts = () => import("../../office/shifts/operations.ts");
const maintenance = () => import("../../office/maintenance/operations.ts");
const targets = () => import("../../office/targets/operations.ts");
const webhooks = () => import("../../office/targets/webhook.ts");
const steps = () => import("../../office/steps/operations.ts");

type LoadOperations = () => Promise<{ readonly operations: readonly Operation[] }>;

/** The commands behind each first word: written by hand, or rendered from operations. Each is loaded only when it is used. */
const SUBJECTS: Readonly<
  Record<
    string,
    {
      readonly byHand?: () => Promise<Add>;
      readonly office?: readonly LoadOperations[];
    }
  >
> = {
  setup: {
    byHand: async () => {
      const { addSetupCommand } = await import("./commands/setup.ts");
      return (program, runtime) => addSetupCommand(program, runtime, runCommandLine);
    },
  },
  serve: { byHand: async () => (await import("./commands/serve.ts")).addServeCommand },
  demo: { byHand: async () => (await import("./commands/demo.ts")).addDemoCommand },
  trial: { byHand: async () => (await import("./commands/demo.ts")).addTrialCommands },
  audit: { office: [audit] },
  partner: {
    office: [partners, accounts, commission, statement, practice, webhooks],
    byHand: async () => (await import("./commands/partner.ts")).addPartnerAllow,
  },
  staff: { office: [staff, staffKeys], byHand: async () => (await import("./commands/staff.ts")).addPasswordCommands },
  token: { office: [tokens] },
  migrate: { byHand: async () => (await import("./commands/database.ts")).addMigrateCommand },
  check: { office: [maintenance], byHand: async () => (await import("./commands/mail.ts")).addMailCheck },
  prune: { office: [maintenance] },
  secret: { office: [maintenance] },
  copy: { byHand: async () => (await import("./commands/database.ts")).addCopyCommand },
  backup: { byHand: async () => (await import("./commands/backup.ts")).addBackupCommand },
  restore: { byHand: async () => (await import("./commands/backup.ts")).addRestoreCommand },
  transaction: { office: [transactions, corrections] },
  connection: { office: [corrections] },
  subscription: { office: [corrections] },
  bulk: { office: [bulk] },
  approval: { office: [approvals] },
  customer: {
    office: [customers, steps],
    byHand: async () => (await import("./commands/customer.ts")).addCustomerCommands,
  },
  why: { byHand: async () => (await import("./commands/customer.ts")).addWhyCommand },
  report: { office: [settlement] },
  shift: { office: [shifts] },
  reconcile: { office: [settlement] },
  tax: { office: [taxes] },
  import: { office: [catalogue], byHand: async () => (await import("./commands/import.ts")).addImportCustomers },
  catalogue: { office: [catalogue] },
  export: { office: [catalogue, imports, transactions, settlement, statement, shifts] },
  target: { office: [targets], byHand: async () => (await import("./commands/target.ts")).addTargetCommands },
  events: { byHand: async () => (await import("./commands/target.ts")).addEventsCommand },
};

/** Runs one command line, without the program's own name. @returns the exit code. */
export async function runCommandLine(given: readonly string[], runtime: Runtime): Promise<number> {
  const words = given[0] === "help" ? [...given.slice(1), "--help"] : given;
  try {
    await (await buildProgram(runtime, neededBy(words))).parseAsync(words, { from: "user" });
    return EXIT.done;
  } catch (error) {
    return conclude(error, runtime);
  }
}

/** The first words whose commands must be loaded. The program's own help describes groups without loading them. */
function neededBy(words: readonly string[]): (word: string) => boolean {
  const [first = "--help"] = words;
  const isHelp = !(first in SUBJECTS) && first !== "--version" && first !== "-V";
  return (word) => word === first || (isHelp && !(word in GROUPS));
}

/** Builds the program. @param isNeeded whether the commands that begin with a word are loaded (default: all). */
export async function buildProgram(
  runtime: Runtime,
  isNeeded: (word: string) => boolean = () => true,
): Promise<Command> {
  const program = new Command("topupd")
    .description("A self-hosted top-up service for providers of TV, internet and IPTV subscriptions")
    .version(runtime.version, "-V, --version", "show the version")
    // Flags after "check mail" are not those of "check".
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: runtime.stdout,
      writeErr: runtime.stderr,
      outputError: (text, write) => write(text.replace(/^error:/, "topupd:")),
    })
    .helpCommand(false)
    .helpOption("-h, --help", "show this help")
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText("afterAll", ({ command }) => {
      const lines = examplesOf(command);
      return lines.length === 0 ? "" : `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`.trimEnd();
    });
  examples(program, ["topupd demo", 'topupd partner add "Blue Wallet"', "topupd serve --port 8080"]);
  for (const [heading, words] of COMMANDS) {
    program.commandsGroup(heading);
    for (const word of words) await addCommands(program, runtime, word, isNeeded(word));
  }
  guideWrongUsage(program);
  return program;
}

/** Adds the commands that begin with a word. If they are not needed, an empty one stands for them. */
async function addCommands(program: Command, runtime: Runtime, word: string, isNeeded: boolean): Promise<void> {
  const about = GROUPS[word];
  if (about !== undefined) addGroup(program, word, about);
  else if (!isNeeded) program.command(word);
  if (!isNeeded) return;
  const { office = [], byHand } = SUBJECTS[word] ?? {};
  (await byHand?.())?.(program, runtime);
  if (office.length > 0) await addOperations(program, runtime, word, office);
}

/** Adds the commands of operations that begin with a word. */
async function addOperations(
  program: Command,
  runtime: Runtime,
  word: string,
  subjects: readonly LoadOperations[],
): Promise<void> {
  const { addOperation } = await import("./operation-command.ts");
  for (const load of subjects) {
    const { operations } = await load();
    const commands = operations.flatMap((operation) => (operation.cli ?? []).map((cli) => ({ operation, cli })));
    for (const { operation, cli } of commands) {
      const words = cli.words.split(" ");
      if (words[0] === word) addOperation(groupOf(program, words.slice(0, -1)), runtime, operation, cli);
    }
  }
}

/** The group of these words. It is added if it is missing. */
function groupOf(program: Command, words: readonly string[]): Command {
  return words.reduce((parent, name, at) => {
    const found = parent.commands.find((each) => each.name() === name);
    return found ?? addGroup(parent, name, GROUPS[words.slice(0, at + 1).join(" ")] ?? name);
  }, program);
}

/** Makes each command name its help when it is called wrongly. */
function guideWrongUsage(command: Command, name = command.name()): void {
  command.showHelpAfterError(`See ${name} --help`);
  for (const child of command.commands) guideWrongUsage(child, `${name} ${child.name()}`);
}

/** Reports an error that commander has not reported yet. @returns the exit code. */
function conclude(error: unknown, { stderr }: Pick<Runtime, "stderr">): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  if (error instanceof Refused) return conclude(refusalOf(error, namingOf()), { stderr });
  const [, code] = EXIT_CODES.find(([kind]) => error instanceof kind) ?? [];
  if (code === undefined) throw error;
  stderr(`topupd: ${(error as Error).message}\n`);
  return code;
}

const EXIT_CODES: readonly (readonly [kind: new (...of: never[]) => Error, code: number])[] = [
  [WrongUsage, EXIT.wrongUsage],
  // A service manager need not restart a service whose settings are wrong.
  [ConfigError, EXIT.wrongUsage],
  [SettingsRefused, EXIT.wrongUsage],
  [FoundWrong, EXIT.foundWrong],
  [CommandFailed, EXIT.failed],
  [StoreRefused, EXIT.failed],
  [StoreUnavailable, EXIT.failed],
];
