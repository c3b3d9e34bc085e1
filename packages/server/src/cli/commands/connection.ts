import type { Command } from "commander";
import type { BlockOutcome } from "../../domain/correction.ts";
import { reasoned } from "../../operations/ports.ts";
import { examples } from "../help.ts";
import { jsonOption, type OutputOptions, printJson } from "../output.ts";
import { type ReasonOptions, readReason, reasonOption } from "../reason.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, type StaffOptions, staffPorts } from "../staff.ts";
import {
  addConnectionArguments,
  type ConnectionFlags,
  connectionToChange,
  readService,
} from "../words/connection-words.ts";
import { printable } from "../words/text.ts";

interface BlockOptions extends OutputOptions, StaffOptions, ReasonOptions, ConnectionFlags {}

/** `topupd connection ...`: what staff decide of a connection, whatever imports say. */
export function addConnectionCommands(program: Command, runtime: Runtime): void {
  const connection = program.command("connection").description("block and unblock connections").helpCommand(false);
  addBlockCommand(connection, runtime, "block", "keep a connection from being listed and topped up, until unblocked");
  addBlockCommand(connection, runtime, "unblock", "let a connection that staff have blocked be topped up again");
}

function addBlockCommand(parent: Command, runtime: Runtime, verb: "block" | "unblock", description: string): void {
  const command = addConnectionArguments(parent.command(verb).description(description), "is one of several customers'")
    .addOption(reasonOption())
    .addOption(asOption())
    .addOption(jsonOption());
  examples(command, [`topupd connection ${verb} internet maya.rai --reason "as the customer asks"`]);
  addSettings(command, STORE_SETTINGS).action(async (given: string, reqId: string, options: BlockOptions) => {
    const service = readService(`topupd connection ${verb}`, given, reqId);
    const reason = readReason(options);
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      const key = await connectionToChange(store, service, reqId, options);
      const by = reasoned(staffPorts(runtime, store, options), reason);
      conclude(runtime, verb, await store.corrections.setBlocked(key, verb === "block", by), options);
    });
  });
}

function conclude(runtime: Runtime, verb: string, outcome: BlockOutcome, { json }: OutputOptions): void {
  if (outcome.kind === "not_found") throw new CommandFailed("the connection is gone");
  if (outcome.kind === "blocked_by_records")
    throw new CommandFailed(
      "the provider's own records say that it is blocked: correct them, and import them. Staff have not blocked it",
    );
  const { key, blocked, audited } = outcome;
  if (json === true) printJson(runtime, { ...key, blocked, changed: audited !== undefined });
  else {
    const was = audited === undefined ? "was already" : "is now";
    runtime.stdout(`${printable(`${key.service} ${key.reqId} of customer ${key.cuid}`)} ${was} ${verb}ed\n`);
  }
}
