import type { Command } from "commander";
import type { Partner } from "../../domain/access-token.ts";
import { AddressList, MOST_ADDRESS_RANGES } from "../../domain/address-list.ts";
import { readAddressRange } from "../../domain/address-range.ts";
import { examples } from "../help.ts";
import { jsonOption, type OutputOptions } from "../output.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, attributed, type StaffOptions } from "../staff.ts";

interface AllowOptions extends OutputOptions, StaffOptions {
  readonly address?: readonly string[];
  readonly any?: boolean;
}

/** `topupd partner allow`: from where a partner may call. */
export function addPartnerAllowCommand(
  parent: Command,
  runtime: Runtime,
  print: (partner: Partner, options: OutputOptions) => void,
): void {
  const allow = parent
    .command("allow")
    .description("set the addresses from which a partner may call, in place of any former ones")
    .argument("<NAME>", "the partner's name")
    .option(
      "--address <RANGE>",
      "an address, or a range such as 203.0.113.0/24; may be given several times",
      (text: string, others: readonly string[] | undefined): readonly string[] => [...(others ?? []), text],
    )
    .option("--any", "lift the limit: requests may come from anywhere")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(allow, [
    'topupd partner allow "Blue Wallet" --address 203.0.113.0/24',
    "topupd partner allow Bank --address 203.0.113.7 --address 2001:db8::/32",
    'topupd partner allow "Blue Wallet" --any',
  ]);
  addSettings(allow, STORE_SETTINGS).action(async (name: string, options: AllowOptions) => {
    const addresses = readAddresses(options);
    await withStore(allow, runtime, { mustExist: true }, async (store) => {
      const by = attributed(runtime, store, options);
      const partner = await store.access.setAllowedAddresses(name, addresses, by);
      if (partner === undefined) throw new CommandFailed(`there is no partner named ${name}`);
      print(partner, options);
    });
  });
}

/** @returns undefined for any. */
function readAddresses({ address, any }: AllowOptions): AddressList | undefined {
  if ((address === undefined) !== (any === true)) throw new WrongUsage("say either --address, once or more, or --any");
  if (address === undefined) return undefined;
  const ranges = new Set(address.map(readOne));
  if (ranges.size > MOST_ADDRESS_RANGES)
    throw new WrongUsage(`--address may be given ${MOST_ADDRESS_RANGES} times: name larger ranges`);
  return new AddressList([...ranges]);
}

function readOne(text: string): string {
  const range = readAddressRange(text);
  if (typeof range === "string") return range;
  const isAll = /\/0$/.test(text);
  throw new WrongUsage(`--address ${range.problem}, but is ${JSON.stringify(text)}${isAll ? ": use --any" : ""}`);
}
