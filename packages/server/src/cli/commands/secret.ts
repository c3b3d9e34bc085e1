import type { Command } from "commander";
import type { Instant } from "../../domain/calendar.ts";
import {
  CHECKOUT_KEY_BYTES,
  type CheckoutSecret,
  type RotationRefusal,
  SECRET_REST_MS,
  sealingSecret,
} from "../../domain/checkout-secret.ts";
import { doubtClock } from "../../domain/clock-doubt.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson, printTable } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, attributed, type StaffOptions } from "../staff.ts";

interface RotateOptions extends OutputOptions, StaffOptions {
  readonly clockIsRight?: boolean;
}

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
    .option("--clock-is-right", "go by the clock although the newest secret is of a time to come")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(rotate, ["topupd secret rotate"]);
  addSettings(rotate, STORE_SETTINGS).action(async (options: RotateOptions) => {
    await withStore(rotate, runtime, { mustExist: true }, async (store) => {
      const key = runtime.random(CHECKOUT_KEY_BYTES);
      // Before anything is done: what fails after that reads as though it had not been.
      const [former, newest] = [await store.checkoutSecrets(), await store.retention.newestRecord()];
      const by = attributed(runtime, store, options);
      const rotated = await store.rotateCheckoutSecret(key, by, options.clockIsRight === true);
      if (rotated === "too_soon")
        throw new CommandFailed(
          "there are sixteen secrets, and the oldest may still be in use: rotate again in a quarter of an hour",
        );
      if ("kind" in rotated) throw new CommandFailed(whyNot(rotated, by.at));
      const { added, redated } = rotated;
      runtime.stderr(`The new secret seals from ${isoTime(added.createdAt + SECRET_REST_MS)} on.\n`);
      if (options.clockIsRight !== true) warnOfClock(runtime, by.at, newest);
      const changed = [added, ...redated];
      print(runtime, [...changed, ...former.filter((each) => changed.every(({ id }) => id !== each.id))], options);
    });
  });
}

/** Whoever replaces a secret that was stolen is not held up: what a clock that was ahead has done can be mended. */
function warnOfClock(runtime: Runtime, now: Instant, newest: Instant | undefined): void {
  if (newest === undefined || doubtClock(now, newest)?.kind !== "ahead") return;
  runtime.stderr(
    `The clock of this machine may be ahead: it says ${isoTime(now)}, and the newest record is of ${isoTime(newest)}. If it is, the former secret seals until that time: set the clock right, and rotate again at once with --clock-is-right.\n`,
  );
}

function whyNot({ kind, until }: Exclude<RotationRefusal, "too_soon">, now: Instant): string {
  const times = `the clock of this machine says ${isoTime(now)}, and`;
  if (kind === "secret_ahead")
    return `${times} the newest secret is of ${isoTime(until)}: a new one would not seal before then. If this clock is right, add --clock-is-right: that secret then counts as made now, and all former ones are replaced. Otherwise set it right first. Nothing was changed`;
  return `${times} the newest top-up is of ${isoTime(until)}: secrets that were made ahead of time must go on opening what they sealed. Rotate after that time. Until then, whoever has stolen a secret can use it only with an access token: replace the tokens that may have leaked (topupd token rotate), and say from where partners may call (topupd partner allow). Nothing was changed`;
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
