import type { Command } from "commander";
import type { Partner, PartnerStatus } from "../../domain/access-token.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson, printTable } from "../output.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, attributed, type StaffOptions } from "../staff.ts";
import { addPartnerAllowCommand } from "./partner-allow.ts";

const NAME = /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u;

/** `topupd partner ...`: who may call. */
export function addPartnerCommands(program: Command, runtime: Runtime): void {
  const partner = program
    .command("partner")
    .description("add, list, suspend and resume partners, and limit from where they call")
    .helpCommand(false);

  const add = partner
    .command("add")
    .description("add a partner")
    .argument("<NAME>", "a name of up to 64 characters")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(add, ['topupd partner add "Blue Wallet"']);
  addSettings(add, STORE_SETTINGS).action(async (name: string, options: OutputOptions & StaffOptions) => {
    if (!NAME.test(name)) throw new WrongUsage("NAME must have 1 to 64 characters, and no blank at either end");
    await withStore(add, runtime, { mustExist: false }, async (store) => {
      const added = await store.addPartner(name, attributed(runtime, store, options));
      if (added === "name_taken") throw new CommandFailed(`there is a partner named ${name} already`);
      print(runtime, [added], options.json === true ? "one" : "table");
    });
  });

  const list = partner.command("list").description("list partners").addOption(jsonOption());
  examples(list, ["topupd partner list", "topupd partner list --json"]);
  addSettings(list, STORE_SETTINGS).action(async (options: OutputOptions) => {
    await withStore(list, runtime, { mustExist: true }, async (store) => {
      print(runtime, await store.listPartners(), options.json === true ? "many" : "table");
    });
  });

  addStatusCommand(partner, runtime, "suspend", "suspended", "refuse all requests of a partner until it is resumed");
  addStatusCommand(partner, runtime, "resume", "active", "let a suspended partner call again");
  addPartnerAllowCommand(partner, runtime, (allowed, { json }) =>
    print(runtime, [allowed], json === true ? "one" : "table"),
  );
}

function addStatusCommand(
  parent: Command,
  runtime: Runtime,
  verb: string,
  status: PartnerStatus,
  description: string,
): void {
  const command = parent
    .command(verb)
    .description(description)
    .argument("<NAME>", "the partner's name")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(command, [`topupd partner ${verb} "Blue Wallet"`]);
  addSettings(command, STORE_SETTINGS).action(async (name: string, options: OutputOptions & StaffOptions) => {
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      const partner = await store.setPartnerStatus(name, status, attributed(runtime, store, options));
      if (partner === undefined) throw new CommandFailed(`there is no partner named ${name}`);
      print(runtime, [partner], options.json === true ? "one" : "table");
    });
  });
}

function print(runtime: Runtime, partners: readonly Partner[], form: "table" | "one" | "many"): void {
  const rows = partners.map(({ id, name, status, createdAt, allowedAddresses }) => {
    return { id, name, status, createdAt: isoTime(createdAt), allowedAddresses: allowedAddresses?.ranges ?? null };
  });
  if (form === "one") printJson(runtime, rows[0]);
  else if (form === "many") printJson(runtime, rows);
  else
    printTable(
      runtime,
      ["ID", "NAME", "STATUS", "CREATED", "ALLOWED ADDRESSES"],
      rows.map((row) => [
        String(row.id),
        row.name,
        row.status,
        row.createdAt,
        row.allowedAddresses?.join(" ") ?? "any",
      ]),
    );
}
