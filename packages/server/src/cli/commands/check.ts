import type { Command } from "commander";
import type { CheckEvent } from "../../store/store.ts";
import { examples } from "../help.ts";
import { jsonOption, type OutputOptions, printJson } from "../output.ts";
import { FoundWrong, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";

interface CheckOptions extends OutputOptions {
  readonly verbose?: boolean;
}

/** `topupd check`: whether what is stored can be trusted. */
export function addCheckCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("check")
    .description(
      "verify the database: integrity, durability, and every subscription against its grants (exit code 3: something is wrong)",
    )
    .option("--verbose", "name each thing that is in order, too")
    .addOption(jsonOption());
  examples(command, ["topupd check", "topupd check --verbose", "topupd check --database sqlite:./topupd-backup.db"]);
  addSettings(command, STORE_SETTINGS).action(async (options: CheckOptions) => {
    const wrong = await withStore(command, runtime, { mustExist: true }, (store) =>
      reportCheck(store.check(), options, runtime),
    );
    if (wrong > 0)
      throw new FoundWrong(`the database is not in order: ${wrong} ${wrong === 1 ? "finding" : "findings"}`);
  });
}

/**
 * Prints what a check finds, and of one that could not go on what it had found until then.
 * @returns how many things are wrong.
 */
export async function reportCheck(
  events: AsyncIterable<CheckEvent>,
  { json, verbose }: CheckOptions,
  runtime: Pick<Runtime, "stdout">,
): Promise<number> {
  const checked: { what: string; count: number }[] = [];
  const wrong: string[] = [];
  let finished = false;
  try {
    for await (const event of events) {
      if (event.kind === "wrong") wrong.push(event.what);
      else checked.push({ what: event.what, count: event.count });
      if (json !== true && (verbose === true || event.kind !== "checked")) runtime.stdout(describe(event));
    }
    finished = true;
    if (json !== true && verbose !== true && wrong.length === 0)
      runtime.stdout("ok     nothing is wrong (--verbose names what was checked)\n");
  } finally {
    if (json === true) printJson(runtime, { ok: finished && wrong.length === 0, finished, checked, wrong });
  }
  return wrong.length;
}

function describe(event: CheckEvent): string {
  if (event.kind === "wrong") return `WRONG  ${event.what}\n`;
  return `ok     ${event.what}${event.count === 1 ? "" : ` (${event.count})`}\n`;
}
