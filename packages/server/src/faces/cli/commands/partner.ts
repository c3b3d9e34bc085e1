import { Argument, type Command, Option } from "commander";
import type { Partner } from "../../../domain/access-token.ts";
import { AddressList, MOST_ADDRESS_RANGES, readAddressRange } from "../../../domain/address-list.ts";
import { table } from "../../../office/text.ts";
import { partnerData } from "../../../services/staff/data.ts";
import { addPartner, listPartners, setPartnerAddresses, setPartnerStatus } from "../../../services/staff/partners.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { flags } from "../options.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

const NAME = [new Argument("<NAME>", "the partner's name")];

/** `topupd partner ...`: who may call. */
export function addPartnerCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "partner", "add, list, suspend and resume partners, and limit from where they call");
  addStoreCommand<object>(group, runtime, {
    name: "add",
    description: "add a partner",
    arguments: [new Argument("<NAME>", "a name of up to 64 characters")],
    examples: ['topupd partner add "Blue Wallet"'],
    changes: true,
    makesDatabase: () => true,
    async run(session, [name = ""]) {
      const added = await addPartner(session, session.actor, { name });
      if (added.kind === "bad_name")
        throw new WrongUsage("NAME must have 1 to 64 characters, and no blank at either end");
      if (added.kind === "name_taken") throw new CommandFailed(`there is a partner named ${name} already`);
      showPartner(session, name, added.partner);
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "list",
    description: "list partners",
    examples: ["topupd partner list", "topupd partner list --json"],
    async run(session) {
      const rows = (await listPartners(session)).map(partnerData);
      session.show(rows, table(COLUMNS, rows));
    },
  });
  for (const [verb, status, description] of [
    ["suspend", "suspended", "refuse all requests of a partner except txn-status until it is resumed"],
    ["resume", "active", "let a suspended partner call again"],
  ] as const) {
    addStoreCommand<object>(group, runtime, {
      name: verb,
      description,
      arguments: NAME,
      examples: [`topupd partner ${verb} "Blue Wallet"`],
      changes: true,
      async run(session, [name = ""]) {
        showPartner(session, name, await setPartnerStatus(session, session.actor, { name, status }));
      },
    });
  }
  addStoreCommand<{ readonly address: readonly string[]; readonly any?: boolean }>(group, runtime, {
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
    async run(session, [name = ""], { address, any }) {
      const addresses = readAddresses(address, any);
      showPartner(session, name, await setPartnerAddresses(session, session.actor, { name, addresses }));
    },
  });
}

/** @returns undefined for any. */
function readAddresses(address: readonly string[], any = false): AddressList | undefined {
  if (any === address.length > 0) throw new WrongUsage("say either --address, once or more, or --any");
  if (any) return undefined;
  const ranges = new Set(address.map(readRange));
  if (ranges.size <= MOST_ADDRESS_RANGES) return new AddressList([...ranges]);
  throw new WrongUsage(`--address may be given ${MOST_ADDRESS_RANGES} times: name larger ranges`);
}

function readRange(text: string): string {
  const range = readAddressRange(text);
  if (typeof range === "string") return range;
  throw new WrongUsage(`--address ${range.problem}, but is ${JSON.stringify(text)}; --any lifts the limit`);
}

function showPartner({ show }: Session, name: string, partner: Partner | undefined): void {
  if (partner === undefined) throw new CommandFailed(`there is no partner named ${name}`);
  show(partnerData(partner), table(COLUMNS, [partnerData(partner)]));
}

/** In a table, `-` stands for any address. */
const COLUMNS = ["id", "name", "status", "createdAt", "allowedAddresses"];
