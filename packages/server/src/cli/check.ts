import type { Command } from "commander";
import type { CheckEvent } from "../store/store.ts";
import { examples } from "./help.ts";
import { jsonOption, type OutputOptions, printJson } from "./output.ts";
import { FoundWrong, type Runtime } from "./runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "./settings.ts";

/** `topupd check`: whether what is stored can be trusted. */
export function addCheckCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("check")
    .description(
      "verify the database: integrity, durability, and every subscription against its grants (exit code 3: something is wrong)",
    )
    .addOption(jsonOption());
  examples(command, ["topupd check", "topupd check --database sqlite:./topupd-backup.db"]);
  addSettings(command, STORE_SETTINGS).action(async (options: OutputOptions) => {
    const checked: { what: string; count: number }[] = [];
    const wrong: string[] = [];
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      for await (const event of store.check()) {
        if (event.kind === "wrong") wrong.push(event.what);
        else checked.push({ what: event.what, count: event.count });
        if (options.json !== true) runtime.stdout(describe(event));
      }
    });
    if (options.json === true) printJson(runtime, { ok: wrong.length === 0, checked, wrong });
    if (wrong.length > 0)
      throw new FoundWrong(
        `the database is not in order: ${wrong.length} ${wrong.length === 1 ? "finding" : "findings"}`,
      );
  });
}

function describe(event: CheckEvent): string {
  if (event.kind === "wrong") return `WRONG  ${event.what}\n`;
  return `ok     ${event.what}${event.count === 1 ? "" : ` (${event.count})`}\n`;
}
