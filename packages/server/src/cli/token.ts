import { type Command, Option } from "commander";
import type { AccessToken } from "../domain/access-token.ts";
import { type Calendar, createCalendar, type Instant } from "../domain/calendar.ts";
import { ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import { issueToken } from "../operations/issue-token.ts";
import { examples } from "./help.ts";
import { isoTime, isoTimeOrNull, jsonOption, type OutputOptions, printJson, printTable } from "./output.ts";
import { CommandFailed, type Runtime, WrongUsage } from "./runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "./settings.ts";
import { asOption, attributed, type StaffOptions, staffPorts } from "./staff.ts";

interface IssueOptions extends OutputOptions, StaffOptions {
  readonly partner: string;
  readonly environment: Environment;
  readonly expires?: string;
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** `topupd token ...`: what partners authenticate with (interface, section 5). */
export function addTokenCommands(program: Command, runtime: Runtime): void {
  const token = program.command("token").description("issue, list and revoke access tokens").helpCommand(false);

  const issue = token
    .command("issue")
    .description("issue an access token: it is printed once, and stored nowhere")
    .requiredOption("--partner <NAME>", "the partner it is for")
    .addOption(
      new Option("--environment <ENVIRONMENT>", "which customers it shows").choices(ENVIRONMENTS).makeOptionMandatory(),
    )
    .option(
      "--expires <DATE>",
      "last day on which a production token holds, YYYY-MM-DD in the provider's zone, or an ISO 8601 time",
    )
    .addOption(asOption())
    .addOption(jsonOption());
  examples(issue, [
    'topupd token issue --partner "Blue Wallet" --environment trial',
    'topupd token issue --partner "Blue Wallet" --environment production \\\n      --expires 2027-12-31',
  ]);
  addSettings(issue, STORE_SETTINGS).action(async (options: IssueOptions) => {
    if (options.environment === "trial" && options.expires !== undefined) {
      throw new WrongUsage("--expires is for production tokens: a trial token always ends after 7 days");
    }
    if (options.expires !== undefined) readExpiry(options.expires, createCalendar("UTC"));
    await withStore(issue, runtime, { mustExist: true }, async (store) => {
      const partner = await store.findPartner(options.partner);
      if (partner === undefined)
        throw new CommandFailed(`there is no partner named ${options.partner}: add it with topupd partner add`);
      const expiresAt =
        options.expires === undefined ? undefined : readExpiry(options.expires, store.provider.calendar);
      if (expiresAt !== undefined && expiresAt <= runtime.clock())
        throw new WrongUsage("--expires must be in the future");
      const ports = staffPorts(runtime, store, options);
      const issued = await issueToken(ports, partner, options.environment, expiresAt);
      printIssued(runtime, issued.token, issued.record, options);
    });
  });

  const list = token.command("list").description("list access tokens, without what is secret").addOption(jsonOption());
  examples(list, ["topupd token list", "topupd token list --json"]);
  addSettings(list, STORE_SETTINGS).action(async (options: OutputOptions) => {
    await withStore(list, runtime, { mustExist: true }, async (store) => {
      printTokens(runtime, await store.listAccessTokens(), options.json === true ? "many" : "table");
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
      const revoked = await store.revokeAccessToken(id, attributed(runtime, store, options));
      if (revoked === undefined) throw new CommandFailed("there is no token with this id: see topupd token list");
      printTokens(runtime, [revoked], options.json === true ? "one" : "table");
    });
  });
}

/** A day counts to its end: the token holds until the next one begins. */
function readExpiry(text: string, calendar: Calendar): Instant {
  const day = calendar.parse(`${text} 00:00:00`);
  if (day !== undefined) return calendar.add(day, { months: 0, days: 1, seconds: 0 });
  const time = ISO_TIME.test(text) && isDate(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new WrongUsage("--expires must be a date such as 2027-12-31, or a time such as 2027-12-31T18:00:00Z");
}

/** Date.parse would take 31 February for 3 March. */
function isDate(text: string): boolean {
  return createCalendar("UTC").parse(`${text} 00:00:00`) !== undefined;
}

/** The token alone goes to stdout, so that a shell can take it as it is. */
function printIssued(runtime: Runtime, token: string, record: AccessToken, { json }: OutputOptions): void {
  const { id, partner, environment, expiresAt } = record;
  if (json === true) {
    printJson(runtime, { token, id, partner: partner.name, environment, expiresAt: isoTimeOrNull(expiresAt) });
    return;
  }
  runtime.stdout(`${token}\n`);
  const end = expiresAt === undefined ? "until it is revoked" : `until ${isoTime(expiresAt)}`;
  runtime.stderr(
    `This is the only time that the token is shown. It is a ${environment} token of ${partner.name}, has the id ${id}, and holds ${end}.\n`,
  );
}

function printTokens(runtime: Runtime, tokens: readonly AccessToken[], form: "table" | "one" | "many"): void {
  const now = runtime.clock();
  const rows = tokens.map((token) => ({
    id: token.id,
    partner: token.partner.name,
    environment: token.environment,
    state: stateOf(token, now),
    createdAt: isoTime(token.createdAt),
    expiresAt: isoTimeOrNull(token.expiresAt),
    revokedAt: isoTimeOrNull(token.revokedAt),
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
    ]);
    printTable(runtime, ["ID", "PARTNER", "ENVIRONMENT", "STATE", "CREATED", "EXPIRES", "REVOKED"], cells);
  }
}

function stateOf({ revokedAt, expiresAt }: AccessToken, now: Instant): string {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && expiresAt <= now ? "expired" : "valid";
}
