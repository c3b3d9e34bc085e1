import { type Command, Option } from "commander";
import type { AccessToken } from "../../domain/access-token.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { issueToken, type ListedToken, listTokens, revokeToken, rotateToken } from "../../services/staff/tokens.ts";
import { addGroup, addStoreCommand } from "../command.ts";
import { flags, readDuration, readExpiry } from "../options.ts";
import { isoTime, isoTimeOrNull, type OutputOptions, printable, show, table } from "../output/text.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

interface IssueOptions extends OutputOptions {
  readonly partner: string;
  readonly environment: Environment;
  readonly expires?: string;
}

interface RotateOptions extends OutputOptions {
  readonly overlap: string;
  readonly expires?: string;
}

const ABOUT_USES = `
A use is a request that was let through; - counts from the token's issue.
Each process writes uses down every 30 seconds and when it stops: those of the
last half minute may be missing yet, and are lost where a process is killed.`;

const NO_TOKEN = "there is no token with this id: see topupd token list";
const ID = { "<ID>": "the token's id, as token list shows it" };
const MOST_OVERLAP_DAYS = 365;

/** `topupd token ...`: what partners authenticate with (interface, section 5). */
export function addTokenCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "token", "issue, rotate, list and revoke access tokens");
  addStoreCommand<IssueOptions>(group, runtime, {
    name: "issue",
    description: "issue an access token: it is printed once, and stored nowhere",
    options: [
      new Option("--partner <NAME>", "the partner it is for").makeOptionMandatory(),
      new Option("--environment <ENVIRONMENT>", "which customers it shows").choices(ENVIRONMENTS).makeOptionMandatory(),
      flags.expires("until revoked"),
    ],
    examples: [
      'topupd token issue --partner "Blue Wallet" --environment trial',
      'topupd token issue --partner "Blue Wallet" --environment production \\\n      --expires 2027-12-31',
    ],
    changes: true,
    async run(session, _, options) {
      const { partner, environment, expires } = options;
      if (environment === "trial" && expires !== undefined)
        throw new WrongUsage("--expires is for production tokens: a trial token always ends after 7 days");
      const expiresAt = expires === undefined ? undefined : readExpiry(expires, session.store, session.clock());
      const issued = await issueToken(session, session.actor, { partner, environment, expiresAt });
      if (issued.kind === "no_partner")
        throw new CommandFailed(`there is no partner named ${partner}: add it with topupd partner add`);
      showToken(runtime, options, issued.token, issued.record);
    },
  });
  addStoreCommand<RotateOptions>(group, runtime, {
    name: "rotate",
    description: "issue the token that takes the place of another, which ends after an overlap",
    arguments: ID,
    options: [
      new Option("--overlap <TIME>", "for how long the old token still holds, such as 0s, 30m or 7d").default("24h"),
      flags.expires("as the old one"),
    ],
    examples: ["topupd token rotate tok_521b2246ae3995b2da", "topupd token rotate tok_521b2246ae3995b2da --overlap 0s"],
    changes: true,
    async run(session, [id = ""], options) {
      const { expires } = options;
      const overlapMs = readDuration("--overlap", options.overlap, MOST_OVERLAP_DAYS);
      const expiresAt = expires === undefined ? "as_before" : readExpiry(expires, session.store, session.clock());
      const rotated = await rotateToken(session, session.actor, { id, overlapMs, expiresAt });
      if (rotated.kind === "not_found") throw new CommandFailed(NO_TOKEN);
      if (rotated.kind === "replaced")
        throw new CommandFailed(`this token was replaced by ${rotated.token.replacedBy} already: rotate that one`);
      if (rotated.kind !== "rotated")
        throw new CommandFailed(`this token is ${rotated.kind}: issue a new one with topupd token issue`);
      showToken(runtime, options, rotated.token, rotated.successor, rotated.former);
    },
  });
  addStoreCommand<OutputOptions>(group, runtime, {
    name: "list",
    description: "list access tokens, without what is secret, and when each was last used",
    examples: ["topupd token list", "topupd token list --json"],
    async run(session, _, options) {
      const rows = (await listTokens(session)).map(tokenRow);
      show(runtime, options, rows, table(COLUMNS, rows));
    },
  }).addHelpText("after", ABOUT_USES);
  addStoreCommand<OutputOptions>(group, runtime, {
    name: "revoke",
    description: "revoke an access token: within a second, it holds nowhere",
    arguments: ID,
    examples: ["topupd token revoke tok_521b2246ae3995b2da"],
    changes: true,
    async run(session, [id = ""], options) {
      const listed = (await listTokens(session)).find(({ token }) => token.id === id);
      const revoked = await revokeToken(session, session.actor, { id });
      if (revoked.kind === "not_found" || listed === undefined) throw new CommandFailed(NO_TOKEN);
      const row = tokenRow({ ...listed, token: revoked.token, state: "revoked" });
      show(runtime, options, row, table(COLUMNS, [row]));
    },
  });
}

/** The token alone goes to stdout, so that a shell can take it as it is. @param former the token whose place it takes. */
function showToken(
  runtime: Runtime,
  options: OutputOptions,
  token: string,
  { id, partner, environment, expiresAt }: AccessToken,
  former?: AccessToken,
): void {
  const formerEnd = isoTimeOrNull(former?.expiresAt);
  const replaces = former === undefined ? {} : { replaces: { id: former.id, expiresAt: formerEnd } };
  const record = { id, partner: partner.name, environment, expiresAt: isoTimeOrNull(expiresAt), ...replaces };
  show(runtime, options, { token, ...record }, `${token}\n`);
  if (options.json === true) return;
  const end = expiresAt === undefined ? "until it is revoked" : `until ${isoTime(expiresAt)}`;
  const of = `a ${environment} token of ${printable(partner.name)}, has the id ${id}, and holds ${end}`;
  runtime.stderr(`This is the only time that the token is shown. It is ${of}.\n`);
  if (former !== undefined) runtime.stderr(`The old token ${former.id} holds until ${formerEnd}.\n`);
}

const COLUMNS = ["id", "partner", "environment", "state", "createdAt", "expiresAt", "revokedAt", "lastUsedAt"];

function tokenRow({ token, state, lastUsedAt }: ListedToken) {
  const { id, partner, environment, createdAt, expiresAt, revokedAt, replacedBy } = token;
  return {
    ...{ id, partner: partner.name, environment, state, createdAt: isoTime(createdAt) },
    ...{ expiresAt: isoTimeOrNull(expiresAt), revokedAt: isoTimeOrNull(revokedAt) },
    ...{ replacedBy: replacedBy ?? null, lastUsedAt: isoTimeOrNull(lastUsedAt) },
  };
}
