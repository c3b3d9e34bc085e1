import type { Command } from "commander";
import type { Operation } from "../../office/operation.ts";
import { addGroup } from "./command.ts";
import type { Runtime } from "./runtime.ts";

type Subject = () => Promise<{ readonly operations: readonly Operation[] }>;
type ByHand = () => Promise<(program: Command, runtime: Runtime) => void>;

/** What a help says of each group of commands. */
const GROUPS: Readonly<Record<string, string>> = {
  customer: "show customers",
  audit: "list, verify and export what staff and imports have changed",
  partner: "add, list, suspend and resume partners, and limit from where they call",
  staff: "the people who work with the console, and keys for the staff API",
  "staff key": "keys with which your other systems use the staff API",
  token: "issue, rotate, list and revoke access tokens",
  transaction: "list top-ups, show what one of them did, and reverse one",
  connection: "block and unblock connections",
  subscription: "give goodwill days, and reverse them",
  import: "import a catalogue or customers from an NDJSON or CSV file",
  report: "report what partners owe",
  export: "write catalogue, customers, transactions or a settlement into a file",
  secret: "list and rotate the secrets that seal checkoutIds",
  target: "the systems that get the events, and how far each is",
};

const audit: Subject = () => import("../../office/audit/operations.ts");
const partners: Subject = () => import("../../office/partners/operations.ts");
const staff: Subject = () => import("../../office/staff/operations.ts");
const tokens: Subject = () => import("../../office/partners/tokens.ts");
const transactions: Subject = () => import("../../office/transactions/operations.ts");
const corrections: Subject = () => import("../../office/corrections/operations.ts");
const catalogue: Subject = () => import("../../office/catalogue/operations.ts");
const imports: Subject = () => import("../../office/imports/operations.ts");
const settlement: Subject = () => import("../../office/settlement/operations.ts");
const maintenance: Subject = () => import("../../office/maintenance/operations.ts");
const targets: Subject = () => import("../../office/targets/operations.ts");

/** Where the commands that begin with a word are defined. What a command does not use is not loaded. */
const SUBJECTS: Readonly<
  Record<string, { readonly office?: readonly Subject[]; readonly byHand?: readonly ByHand[] }>
> = {
  audit: { office: [audit] },
  partner: { office: [partners], byHand: [async () => (await import("./commands/partner.ts")).addPartnerAllow] },
  staff: { office: [staff], byHand: [async () => (await import("./commands/staff.ts")).addPasswordCommands] },
  token: { office: [tokens] },
  check: { office: [maintenance] },
  prune: { office: [maintenance] },
  secret: { office: [maintenance] },
  transaction: { office: [transactions, corrections] },
  connection: { office: [corrections] },
  subscription: { office: [corrections] },
  customer: { byHand: [async () => (await import("./commands/customer.ts")).addCustomerCommands] },
  why: { byHand: [async () => (await import("./commands/why.ts")).addWhyCommand] },
  report: { office: [settlement] },
  reconcile: { office: [settlement] },
  import: { office: [catalogue], byHand: [async () => (await import("./commands/import.ts")).addImportCustomers] },
  export: { office: [catalogue, imports, transactions, settlement] },
  target: { byHand: [async () => (await import("./commands/target.ts")).addTargetCommands], office: [targets] },
  events: { byHand: [async () => (await import("./commands/events.ts")).addEventsCommand] },
};

export const isGroup = (word: string): boolean => word in GROUPS;

/** Adds the commands that begin with a word; if `isMeant` is false, only the group. */
export async function addCommands(program: Command, runtime: Runtime, word: string, isMeant: boolean): Promise<void> {
  const about = GROUPS[word];
  if (about !== undefined) addGroup(program, word, about);
  if (!isMeant) return;
  const { office = [], byHand = [] } = SUBJECTS[word] ?? {};
  for (const load of byHand) (await load())(program, runtime);
  if (office.length === 0) return;
  const { addOperation } = await import("./operation-command.ts");
  for (const load of office)
    for (const operation of (await load()).operations)
      for (const cli of operation.cli ?? []) {
        const words = cli.words.split(" ");
        if (words[0] === word) addOperation(groupOf(program, words.slice(0, -1)), runtime, operation, cli);
      }
}

/** The group of these words, made if it is missing. */
function groupOf(program: Command, words: readonly string[]): Command {
  return words.reduce((parent, name, at) => {
    const found = parent.commands.find((each) => each.name() === name);
    return found ?? addGroup(parent, name, GROUPS[words.slice(0, at + 1).join(" ")] ?? name);
  }, program);
}
