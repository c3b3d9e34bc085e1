import type { Command } from "commander";
import { DAY_MS } from "../../domain/calendar.ts";
import type { RefusedRotation } from "../../domain/token-rotation.ts";
import { type RotatedToken, rotateToken } from "../../operations/rotate-token.ts";
import { readDuration } from "../duration.ts";
import { examples } from "../help.ts";
import { isoTime, isoTimeOrNull, jsonOption, jsonText, type OutputOptions } from "../output.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { showToken } from "../show-token.ts";
import { asOption, type StaffOptions, staffPorts } from "../staff.ts";
import { checkExpiry, expiresOption, readExpiry, refuseExpiryOf } from "../token-expiry.ts";
import { printable } from "../words/text.ts";

interface RotateOptions extends OutputOptions, StaffOptions {
  readonly overlap: string;
  readonly expires?: string;
}

const MOST_DAYS = 365;

/** `topupd token rotate`: a new token for the same purpose, and an end for the old one. */
export function addTokenRotateCommand(parent: Command, runtime: Runtime): void {
  const rotate = parent
    .command("rotate")
    .description("issue the token that takes the place of another, which ends after an overlap")
    .argument("<ID>", "the old token's id, as token list shows it")
    .option("--overlap <TIME>", "for how long the old token still holds, such as 0s, 30m, 24h or 7d", "24h")
    .addOption(expiresOption("as the old one"))
    .addOption(asOption())
    .addOption(jsonOption());
  examples(rotate, [
    "topupd token rotate tok_521b2246ae3995b2da",
    "topupd token rotate tok_521b2246ae3995b2da --overlap 7d --expires 2028-12-31",
    "topupd token rotate tok_521b2246ae3995b2da --overlap 0s",
  ]);
  addSettings(rotate, STORE_SETTINGS).action(async (id: string, options: RotateOptions) => {
    const overlapMs = readDuration(options.overlap, MOST_DAYS * DAY_MS);
    if (overlapMs === undefined)
      throw new WrongUsage(`--overlap must be a time such as 0s, 30m, 24h or 7d, of up to ${MOST_DAYS}d`);
    checkExpiry(options.expires);
    await withStore(rotate, runtime, { mustExist: true }, async (store) => {
      const { expires } = options;
      const token = (await store.listAccessTokens()).find((each) => each.id === id);
      refuseExpiryOf(token?.environment, expires);
      const expiresAt =
        expires === undefined ? "as_before" : readExpiry(expires, store.provider.calendar, runtime.clock());
      const rotated = await rotateToken(staffPorts(runtime, store, options), id, { overlapMs, expiresAt });
      if (rotated === undefined) throw new CommandFailed("there is no token with this id: see topupd token list");
      if (rotated.kind !== "rotated") throw new CommandFailed(refusalOf(rotated));
      await print(runtime, rotated, options);
    });
  });
}

function refusalOf({ kind, token }: RefusedRotation): string {
  const issue = `issue a new one with topupd token issue --environment ${token.environment}`;
  switch (kind) {
    case "revoked":
      return `this token has been revoked: ${issue}`;
    case "ended":
      return `this token has ended: ${issue}`;
    case "replaced":
      return `this token has been replaced by ${token.replacedBy} already: rotate that one`;
  }
}

/** The new token alone goes to stdout, so that a shell can take it as it is. */
async function print(
  runtime: Runtime,
  { token, former, successor }: RotatedToken,
  { json }: OutputOptions,
): Promise<void> {
  const { id, partner, environment, expiresAt } = successor;
  const formerEnd = isoTime(former.expiresAt as number);
  const remains = `; the old token ${former.id} holds until ${formerEnd}`;
  if (json === true) {
    const replaces = { id: former.id, expiresAt: isoTimeOrNull(former.expiresAt) };
    const ends = isoTimeOrNull(expiresAt);
    const shown = { token, id, partner: partner.name, environment, expiresAt: ends, replaces };
    return showToken(runtime, id, jsonText(shown), remains);
  }
  await showToken(runtime, id, `${token}\n`, remains);
  const end = expiresAt === undefined ? "until it is revoked" : `until ${isoTime(expiresAt)}`;
  runtime.stderr(
    `This is the only time that the token is shown. It is a ${environment} token of ${printable(partner.name)}, has the id ${id}, and holds ${end}.\n`,
  );
  runtime.stderr(`The old token ${former.id} holds until ${formerEnd}.\n`);
  if (expiresAt !== undefined && expiresAt <= (former.expiresAt as number))
    runtime.stderr(
      "The new token ends no later than the old one: issue one that does, with topupd token issue --expires.\n",
    );
}
