import type { Command } from "commander";
import {
  CHECKOUT_KEY_BYTES,
  type CheckoutSecret,
  SECRET_REST_MS,
  sealingSecret,
} from "../../domain/checkout-secret.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson, printTable } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, attributed, type StaffOptions } from "../staff.ts";

/** `topupd secret ...`: the secrets that seal checkoutIds. What they are is never shown. */
export function addSecretCommands(program: Command, runtime: Runtime): void {
  const secret = program
    .command("secret")
    .description("list and rotate the secrets that seal checkoutIds")
    .helpCommand(false);

  const list = secret
    .command("list")
    .description("list the secrets, newest first, without what is secret")
    .addOption(jsonOption());
  examples(list, ["topupd secret list"]);
  addSettings(list, STORE_SETTINGS).action(async (options: OutputOptions) => {
    await withStore(list, runtime, { mustExist: true }, async (store) => {
      print(runtime, await store.checkoutSecrets(), options);
    });
  });

  const rotate = secret
    .command("rotate")
    .description("seal new checkoutIds with a new secret; those given out stay good for their five minutes")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(rotate, ["topupd secret rotate"]);
  addSettings(rotate, STORE_SETTINGS).action(async (options: OutputOptions & StaffOptions) => {
    await withStore(rotate, runtime, { mustExist: true }, async (store) => {
      const key = runtime.random(CHECKOUT_KEY_BYTES);
      // Before anything is done: what fails after that reads as though it had not been.
      const former = await store.checkoutSecrets();
      const added = await store.rotateCheckoutSecret(key, attributed(runtime, store, options));
      if (added === "too_soon")
        throw new CommandFailed(
          "there are sixteen secrets, and the oldest may still be in use: rotate again in a quarter of an hour",
        );
      runtime.stderr(`The new secret seals from ${isoTime(added.createdAt + SECRET_REST_MS)} on.\n`);
      print(runtime, [added, ...former.filter(({ id }) => id !== added.id)], options);
    });
  });
}

function print(runtime: Runtime, secrets: readonly CheckoutSecret[], { json }: OutputOptions): void {
  const now = runtime.clock();
  const sealing = sealingSecret(secrets, now);
  const newer = secrets.indexOf(sealing);
  const rows = secrets.map(({ id, createdAt }, index) => ({
    id,
    state: index < newer ? "new" : index === newer ? "sealing" : "former",
    createdAt: isoTime(createdAt),
  }));
  if (json === true) printJson(runtime, rows);
  else {
    const cells = rows.map(({ id, state, createdAt }) => [String(id), state, createdAt]);
    printTable(runtime, ["ID", "STATE", "CREATED"], cells);
  }
}
