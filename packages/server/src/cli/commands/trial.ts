import type { Command } from "commander";
import { resetTrial } from "../../services/staff/trial.ts";
import { addGroup, addStoreCommand } from "../command.ts";
import type { Runtime } from "../runtime.ts";

/** `topupd trial ...`: the trial environment of a service in production. */
export function addTrialCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "trial", "set up the trial environment beside production");
  addStoreCommand<object>(group, runtime, {
    name: "reset",
    description: "put the five trial customers and the trial catalogue into their first state",
    examples: ["topupd trial reset"],
    changes: true,
    makesDatabase: () => true,
    json: false,
    async run(session) {
      await resetTrial(session, session.actor);
      runtime.stderr("The trial environment is in its first state: customers 1000001 to 1000005.\n");
    },
  });
}
