import type { Command } from "commander";
import { listSecrets, rotateSecret } from "../../services/staff/secrets.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { isoTime, type OutputOptions, show, table } from "../output/text.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";

/** `topupd secret ...`: the secrets that seal checkoutIds. What they are is never shown. */
export function addSecretCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "secret", "list and rotate the secrets that seal checkoutIds");
  addStoreCommand<OutputOptions>(group, runtime, {
    name: "list",
    description: "list the secrets, newest first, without what is secret",
    examples: ["topupd secret list"],
    run: async (session, _, options) => print(session, options),
  });
  addStoreCommand<OutputOptions>(group, runtime, {
    name: "rotate",
    description: "seal new checkoutIds with a new secret; those given out stay good for their five minutes",
    examples: ["topupd secret rotate"],
    changes: true,
    async run(session, _, options) {
      const rotated = await rotateSecret(session, session.actor);
      if (rotated.kind === "too_soon")
        throw new CommandFailed(
          "there are sixteen secrets, and the oldest may still be in use: rotate again in a quarter of an hour",
        );
      runtime.stderr(`The new secret ${rotated.id} seals from ${isoTime(rotated.sealsFrom)} on.\n`);
      await print(session, options);
    },
  });
}

async function print(session: Session, options: OutputOptions): Promise<void> {
  const secrets = await listSecrets(session);
  const sealing = secrets.findIndex(({ seals }) => seals);
  const rows = secrets.map(({ id, createdAt }, index) => {
    const state = index < sealing ? "new" : index === sealing ? "sealing" : "former";
    return { id, state, createdAt: isoTime(createdAt) };
  });
  show(session.runtime, options, rows, table(["id", "state", "createdAt"], rows));
}
