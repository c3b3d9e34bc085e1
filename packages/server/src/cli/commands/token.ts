import { type Command, Option } from "commander";
import { type AccessToken, hasTokenEnded } from "../../domain/access-token.ts";
import type { Instant } from "../../domain/calendar.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { issueToken } from "../../operations/issue-token.ts";
import { examples } from "../help.ts";
import { isoTime, isoTimeOrNull, jsonOption, jsonText, type OutputOptions, printJson, printTable } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { showToken } from "../show-token.ts";
import { asOption, attributed, type StaffOptions, staffPorts } from "../staff.ts";
import { checkExpiry, expiresOption, readExpiry, refuseExpiryOf } from "../token-expiry.ts";
import { addTokenRotateCommand } from "./token-rotate.ts";

interface IssueOptions extends OutputOptions, StaffOptions {
  readonly partner: string;
  readonly environment: Environment;
  readonly expires?: string;
}

const ABOUT_USES = `
A use is a request that was let through; "never" counts from the token's issue.
Each process writes uses down every 30 seconds and when it stops: those of the
last half minute may be missing yet, and are lost where a process is killed.`;

/** `topupd token ...`: what partners authenticate with (interface, section 5). */
export function addTokenCommands(program: Command, runtime: Runtime): void {
  const token = program.command("token").description("issue, rotate, list and revoke access tokens").helpCommand(false);

  const issue = token
    .command("issue")
    .description("issue an access token: it is printed once, and stored nowhere")
    .requiredOption("--partner <NAME>", "the partner it is for")
    .addOption(
      new Option("--environment <ENVIRONMENT>", "which customers it shows").choices(ENVIRONMENTS).makeOptionMandatory(),
    )
    .addOption(expiresOption("until revoked"))
    .addOption(asOption())
    .addOption(jsonOption());
  examples(issue, [
    'topupd token issue --partner "Blue Wallet" --environment trial',
    'topupd token issue --partner "Blue Wallet" --environment production \\\n      --expires 2027-12-31',
  ]);
  addSettings(issue, STORE_SETTINGS).action(async (options: IssueOptions) => {
    refuseExpiryOf(options.environment, options.expires);
    checkExpiry(options.expires);
    await withStore(issue, runtime, { mustExist: true }, async (store) => {
      const partner = await store.findPartner(options.partner);
      if (partner === undefined)
        throw new CommandFailed(`there is no partner named ${options.partner}: add it with topupd partner add`);
      const { expires } = options;
      const expiresAt =
        expires === undefined ? undefined : readExpiry(expires, store.provider.calendar, runtime.clock());
      const ports = staffPorts(runtime, store, options);
      const issued = await issueToken(ports, partner, options.environment, expiresAt);
      await printIssued(runtime, issued.token, issued.record, options);
    });
  });

  addTokenRotateCommand(token, runtime);

  const list = token
    .command("list")
    .description("list access tokens, without what is secret, and when each was last used")
    .addOption(jsonOption());
  examples(list, ["topupd token list", "topupd token list --json"]);
  list.addHelpText("after", ABOUT_USES);
  addSettings(list, STORE_SETTINGS).action(async (options: OutputOptions) => {
    await withStore(list, runtime, { mustExist: true }, async (store) => {
      const [tokens, uses] = [await store.listAccessTokens(), await store.access.lastUses()];
      printTokens(runtime, tokens, uses, options.json === true ? "many" : "table");
    });
  });

  const revoke = token
    .command("revoke")
    .description("revoke an access token: within a second, it holds nowhere")
    .argument("<ID>", "the token's id, as token list shows it")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(revoke, ["topupd token revoke tok_521b2246ae3995b2da"]);
  addSettings(revoke, STORE_SETTINGS).action(async (id: string, options: OutputOptions & StaffOptions) => {
    await withStore(revoke, runtime, { mustExist: true }, async (store) => {
      // Before anything is done: what fails after that reads as though it had not been.
      const uses = await store.access.lastUses();
      const revoked = await store.revokeAccessToken(id, attributed(runtime, store, options));
      if (revoked === undefined) throw new CommandFailed("there is no token with this id: see topupd token list");
      printTokens(runtime, [revoked], uses, options.json === true ? "one" : "table");
    });
  });
}

/** The token alone goes to stdout, so that a shell can take it as it is. */
async function printIssued(
  runtime: Runtime,
  token: string,
  record: AccessToken,
  { json }: OutputOptions,
): Promise<void> {
  const { id, partner, environment, expiresAt } = record;
  if (json === true) {
    const shown = { token, id, partner: partner.name, environment, expiresAt: isoTimeOrNull(expiresAt) };
    return showToken(runtime, id, jsonText(shown));
  }
  await showToken(runtime, id, `${token}\n`);
  const end = expiresAt === undefined ? "until it is revoked" : `until ${isoTime(expiresAt)}`;
  runtime.stderr(
    `This is the only time that the token is shown. It is a ${environment} token of ${partner.name}, has the id ${id}, and holds ${end}.\n`,
  );
}

function printTokens(
  runtime: Runtime,
  tokens: readonly AccessToken[],
  uses: ReadonlyMap<string, Instant>,
  form: "table" | "one" | "many",
): void {
  const now = runtime.clock();
  const rows = tokens.map((token) => ({
    id: token.id,
    partner: token.partner.name,
    environment: token.environment,
    state: stateOf(token, now),
    createdAt: isoTime(token.createdAt),
    expiresAt: isoTimeOrNull(token.expiresAt),
    revokedAt: isoTimeOrNull(token.revokedAt),
    replacedBy: token.replacedBy ?? null,
    lastUsedAt: isoTimeOrNull(uses.get(token.id)),
  }));
  if (form === "one") printJson(runtime, rows[0]);
  else if (form === "many") printJson(runtime, rows);
  else {
    const cells = rows.map((row) => [
      row.id,
      row.partner,
      row.environment,
      row.state,
      row.createdAt,
      row.expiresAt ?? "-",
      row.revokedAt ?? "-",
      row.lastUsedAt ?? "never",
    ]);
    printTable(runtime, ["ID", "PARTNER", "ENVIRONMENT", "STATE", "CREATED", "EXPIRES", "REVOKED", "LAST USED"], cells);
  }
}

function stateOf(token: AccessToken, now: Instant): string {
  if (token.revokedAt !== undefined) return "revoked";
  return hasTokenEnded(token, now) ? "expired" : "valid";
}
