import { type Command, Option } from "commander";
import type { Partner } from "../../domain/access-token.ts";
import { AddressList, MOST_ADDRESS_RANGES } from "../../domain/address-list.ts";
import { readAddressRange } from "../../domain/address-range.ts";
import { addPartner, listPartners, setPartnerAddresses, setPartnerStatus } from "../../services/staff/partners.ts";
import { addGroup, addStoreCommand } from "../command.ts";
import { flags } from "../options.ts";
import { isoTime, type OutputOptions, show, table } from "../output/text.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

interface AllowOptions extends OutputOptions {
  readonly address: readonly string[];
  readonly any?: boolean;
}

const NAME = { "<NAME>": "the partner's name" };

/** `topupd partner ...`: who may call. */
export function addPartnerCommands(program: Command, runtime: Runtime): void {
  const description = "add, list, suspend and resume partners, and limit from where they call";
  const group = addGroup(program, "partner", description);
  addStoreCommand<OutputOptions>(group, runtime, {
    name: "add",
    description: "add a partner",
    arguments: { "<NAME>": "a name of up to 64 characters" },
    examples: ['topupd partner add "Blue Wallet"'],
    changes: true,
    makesDatabase: () => true,
    async run(session, [name = ""], options) {
      const added = await addPartner(session, session.actor, { name });
      if (added.kind === "bad_name")
        throw new WrongUsage("NAME must have 1 to 64 characters, and no blank at either end");
      if (added.kind === "name_taken") throw new CommandFailed(`there is a partner named ${name} already`);
      printOne(runtime, options, added.partner);
    },
  });
  addStoreCommand<OutputOptions>(group, runtime, {
    name: "list",
    description: "list partners",
    examples: ["topupd partner list", "topupd partner list --json"],
    async run(session, _, options) {
      const rows = (await listPartners(session)).map(partnerRow);
      show(runtime, options, rows, table(COLUMNS, rows));
    },
  });
  for (const [verb, status, what] of [
    ["suspend", "suspended", "refuse all requests of a partner until it is resumed"],
    ["resume", "active", "let a suspended partner call again"],
  ] as const) {
    addStoreCommand<OutputOptions>(group, runtime, {
      name: verb,
      description: what,
      arguments: NAME,
      examples: [`topupd partner ${verb} "Blue Wallet"`],
      changes: true,
      async run(session, [name = ""], options) {
        printChanged(runtime, options, name, await setPartnerStatus(session, session.actor, { name, status }));
      },
    });
  }
  addStoreCommand<AllowOptions>(group, runtime, {
    name: "allow",
    description: "set the addresses from which a partner may call, in place of any former ones",
    arguments: NAME,
    options: [
      flags.list("--address <RANGE>", "an address, or a range such as 203.0.113.0/24", "none"),
      new Option("--any", "lift the limit: requests may come from anywhere"),
    ],
    examples: [
      "topupd partner allow Bank --address 203.0.113.7 --address 2001:db8::/32",
      'topupd partner allow "Blue Wallet" --any',
    ],
    changes: true,
    async run(session, [name = ""], options) {
      const addresses = readAddresses(options);
      printChanged(runtime, options, name, await setPartnerAddresses(session, session.actor, { name, addresses }));
    },
  });
}

/** @returns undefined for any. */
function readAddresses({ address, any }: AllowOptions): AddressList | undefined {
  if (address.length === 0 && any === true) return undefined;
  if (address.length === 0 || any === true) throw new WrongUsage("say either --address, once or more, or --any");
  const ranges = new Set(address.map(readRange));
  if (ranges.size <= MOST_ADDRESS_RANGES) return new AddressList([...ranges]);
  throw new WrongUsage(`--address may be given ${MOST_ADDRESS_RANGES} times: name larger ranges`);
}

function readRange(text: string): string {
  const range = readAddressRange(text);
  if (typeof range === "string") return range;
  throw new WrongUsage(`--address ${range.problem}, but is ${JSON.stringify(text)}; --any lifts the limit`);
}

function printChanged(
  runtime: Runtime,
  options: OutputOptions,
  name: string,
  changed: Awaited<ReturnType<typeof setPartnerStatus>>,
): void {
  if (changed.kind === "not_found") throw new CommandFailed(`there is no partner named ${name}`);
  printOne(runtime, options, changed.partner);
}

function printOne(runtime: Runtime, options: OutputOptions, partner: Partner): void {
  show(runtime, options, partnerRow(partner), table(COLUMNS, [partnerRow(partner)]));
}

/** In a table, `-` stands for any address. */
const COLUMNS = ["id", "name", "status", "createdAt", "allowedAddresses"];

function partnerRow({ id, name, status, createdAt, allowedAddresses }: Partner) {
  return { id, name, status, createdAt: isoTime(createdAt), allowedAddresses: allowedAddresses?.ranges ?? null };
}
