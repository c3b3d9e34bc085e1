import type { Command } from "commander";
import { resetTrial } from "../../operations/trial.ts";
import { examples } from "../help.ts";
import type { Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, type StaffOptions, staffPorts } from "../staff.ts";

/** `topupd trial ...`: the trial environment of a service in production. */
export function addTrialCommands(program: Command, runtime: Runtime): void {
  const trial = program
    .command("trial")
    .description("set up the trial environment beside production")
    .helpCommand(false);
  const reset = trial
    .command("reset")
    .description("put the five trial customers and the trial catalogue into their first state")
    .addOption(asOption());
  examples(reset, ["topupd trial reset"]);
  addSettings(reset, STORE_SETTINGS).action(async (options: StaffOptions) => {
    await withStore(reset, runtime, { mustExist: false }, async (store) => {
      await resetTrial(staffPorts(runtime, store, options));
    });
    runtime.stderr("The trial environment is in its first state: customers 1000001 to 1000005.\n");
  });
}
