import { type Command, Option } from "commander";
import { checkStore } from "../../services/staff/check.ts";
import { addStoreCommand } from "../command.ts";
import { count, jsonLine, type OutputOptions } from "../output/text.ts";
import { FoundWrong, type Runtime } from "../runtime.ts";

/** `topupd check`: whether what is stored can be trusted. */
export function addCheckCommand(program: Command, runtime: Runtime): void {
  const { stdout } = runtime;
  addStoreCommand<OutputOptions & { readonly verbose?: boolean }>(program, runtime, {
    name: "check",
    description:
      "verify the database: integrity, and every subscription against its ledger (exit code 3: something is wrong)",
    options: [new Option("--verbose", "name each thing that is in order, too")],
    examples: ["topupd check", "topupd check --database sqlite:./topupd-backup.db"],
    async run(session, _, { json, verbose }) {
      const { ok, checked, wrong } = await checkStore(session, (what) => {
        if (json !== true) stdout(`WRONG  ${what}\n`);
      });
      if (json === true) stdout(jsonLine({ ok, checked, wrong }));
      else if (verbose === true) for (const each of checked) stdout(`ok     ${each.what} (${each.count})\n`);
      else if (ok) stdout("ok     nothing is wrong (--verbose names what was checked)\n");
      if (!ok) throw new FoundWrong(`the database is not in order: ${count(wrong.length, "finding")}`);
    },
  });
}
