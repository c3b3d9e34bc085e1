import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import type { AccessToken } from "../../../domain/access-token.ts";
import { ENVIRONMENTS, type Environment } from "../../../domain/customer.ts";
import { DAY_MS, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { printable, table } from "../../../office/text.ts";
import { tokenData } from "../../../services/staff/data.ts";
import {
  issueToken,
  type ListedToken,
  listTokens,
  revokeToken,
  rotateToken,
} from "../../../services/staff/partners.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { flags, readExpiry } from "../options.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

interface IssueFlags {
  readonly partner: string;
  readonly environment: Environment;
  readonly expires?: string;
}

interface RotateFlags {
  /** Milliseconds. */
  readonly overlap: number;
  readonly expires?: string;
}

const NO_TOKEN = "there is no token with this id: see topupd token list";
const ID = [new Argument("<ID>", "the token's id, as token list shows it")];

/** `topupd token ...`: what partners authenticate with (interface, section 5). */
export function addTokenCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "token", "issue, rotate, list and revoke access tokens");
  addStoreCommand<IssueFlags>(group, runtime, {
    name: "issue",
    description: "issue an access token: it is printed once, and stored nowhere",
    options: [
      new Option("--partner <NAME>", "the partner it is for").makeOptionMandatory(),
      new Option("--environment <ENVIRONMENT>", "which customers it shows").choices(ENVIRONMENTS).makeOptionMandatory(),
      flags.expires("until revoked"),
    ],
    examples: ["topupd token issue --partner Bank --environment trial"],
    changes: true,
    async run(session, _, { partner, environment, expires }) {
      if (environment === "trial" && expires !== undefined)
        throw new WrongUsage("--expires is for production tokens: a trial token always ends after 7 days");
      const expiresAt = readExpiry(expires, session.store, session.clock());
      const issued = await issueToken(session, session.actor, { partner, environment, expiresAt });
      if (issued.kind === "no_partner")
        throw new CommandFailed(`there is no partner named ${partner}: add it with topupd partner add`);
      showToken(session, issued.token, issued.record);
    },
  });
  addStoreCommand<RotateFlags>(group, runtime, {
    name: "rotate",
    description: "issue the token that takes the place of another, which ends after an overlap",
    arguments: ID,
    options: [
      new Option("--overlap <TIME>", "for how long the old token still holds, such as 0s, 30m or 7d")
        .argParser(readDuration)
        .default(DAY_MS, "24h"),
      flags.expires("as the old one"),
    ],
    examples: ["topupd token rotate tok_521b2246ae3995b2da", "topupd token rotate tok_521b2246ae3995b2da --overlap 0s"],
    changes: true,
    async run(session, [id = ""], { overlap: overlapMs, expires }) {
      const expiresAt = readExpiry(expires, session.store, session.clock()) ?? "as_before";
      const rotated = await rotateToken(session, session.actor, { id, overlapMs, expiresAt });
      if (rotated.kind === "not_found") throw new CommandFailed(NO_TOKEN);
      if (rotated.kind === "replaced")
        throw new CommandFailed(`this token was replaced by ${rotated.token.replacedBy} already: rotate that one`);
      if (rotated.kind !== "rotated")
        throw new CommandFailed(`this token is ${rotated.kind}: issue a new one with topupd token issue`);
      showToken(session, rotated.token, rotated.successor, rotated.former);
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "list",
    description: "list access tokens, without what is secret, and when each was last used, half a minute late",
    examples: ["topupd token list", "topupd token list --json"],
    async run(session) {
      const tokens = await listTokens(session);
      session.show(tokens.map(tokenData), tokenTable(session, tokens));
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "revoke",
    description: "revoke an access token: within a second, it holds nowhere",
    arguments: ID,
    examples: ["topupd token revoke tok_521b2246ae3995b2da"],
    changes: true,
    async run(session, [id = ""]) {
      await revokeToken(session, session.actor, { id });
      const listed = (await listTokens(session)).find(({ token }) => token.id === id);
      if (listed === undefined) throw new CommandFailed(NO_TOKEN);
      session.show(tokenData(listed), tokenTable(session, [listed]));
    },
  });
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };
const MOST_OVERLAP_DAYS = 365;

/** @returns milliseconds. */
function readDuration(text: string): number {
  const [, number, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS_MS[unit] ?? Number.NaN);
  if (ms <= MOST_OVERLAP_DAYS * DAY_MS) return ms;
  throw new InvalidArgumentError(`It must be a time such as 0s, 30m, 24h or 7d, of up to ${MOST_OVERLAP_DAYS}d.`);
}

/** The token alone goes to stdout, so that a shell can take it as it is. @param former the token whose place it takes. */
function showToken(
  { runtime, isJson, show, store }: Session,
  token: string,
  { id, partner, environment, expiresAt }: AccessToken,
  former?: AccessToken,
): void {
  const replaces =
    former === undefined ? {} : { replaces: { id: former.id, expiresAt: isoTimeOrNull(former.expiresAt) } };
  const record = { id, partner: partner.name, environment, expiresAt: isoTimeOrNull(expiresAt), ...replaces };
  show({ token, ...record }, `${token}\n`);
  if (isJson) return;
  const { wallTime } = store.provider.zone;
  const end = expiresAt === undefined ? "until it is revoked" : `until ${wallTime(expiresAt)}`;
  const of = `a ${environment} token of ${printable(partner.name)}, has the id ${id}, and holds ${end}`;
  runtime.stderr(`This is the only time that the token is shown. It is ${of}.\n`);
  if (former?.expiresAt !== undefined)
    runtime.stderr(`The old token ${former.id} holds until ${wallTime(former.expiresAt)}.\n`);
}

const TIMES = ["createdAt", "expiresAt", "revokedAt", "lastUsedAt"] as const;

/** Times are the provider's wall times, so that a token's last day is the day that was asked for. */
function tokenTable({ store }: Session, tokens: readonly ListedToken[]): string {
  const { zone } = store.provider;
  const rows = tokens.map((listed) => {
    const row = tokenData(listed);
    const inZone = TIMES.map((name) => [name, row[name] && zone.wallTime(Date.parse(row[name]))]);
    return { ...row, ...Object.fromEntries(inZone) };
  });
  return table(["id", "partner", "environment", "state", ...TIMES], rows);
}
