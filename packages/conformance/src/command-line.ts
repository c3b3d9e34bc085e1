import { Command, CommanderError, Option } from "commander";
import type { Service, Version } from "./facts.ts";
import { type ConformanceOptions, checkOptions, type Purchase, WrongOption } from "./options.ts";
import { checkDestinations, onFile, openOutputs, writeOutputs } from "./outputs.ts";
import { runConformance, ServiceUnreachable, TokenRefused } from "./run.ts";

export const EXIT = { holds: 0, fails: 1, wrongUsage: 2, unreachable: 3, broken: 4 } as const;

export interface Runtime {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** @throws if the file cannot be read */
  readonly readFile: (path: string) => string;
  /** Creates or empties the file, and returns a function that writes it. Both throw if that is not possible. */
  readonly openFile: (path: string) => (text: string) => void;
  readonly wait?: ConformanceOptions["wait"];
}

interface Flags {
  readonly base: string;
  readonly code: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly api: string;
  readonly topUp?: boolean;
  readonly expiry?: boolean;
  readonly service?: string;
  readonly reqId?: string;
  readonly bouquet?: string;
  readonly profile?: "topupd";
  readonly webhookPort?: string;
  readonly webhookSecret?: string;
  readonly timeout: string;
  readonly json?: string;
  readonly junit?: string;
}

const HELP_END = `
The access token may also be in the environment, as CONFORMANCE_TOKEN, or in a
file, and the webhook's secret as CONFORMANCE_WEBHOOK_SECRET: a command line
can be read by others on the same machine.

Exit code: 0 all holds, 1 something fails or too little could be judged,
2 wrong usage or access token, 3 the service cannot be reached,
4 the kit itself broke down.

Example:
  CONFORMANCE_TOKEN=... conformance \\
    --base https://topup.provider.example/staging/api/third-party/v1.0.1 \\
    --code 1000001
`;

const EXAMPLE = `For example:
  conformance --base https://topup.provider.example/staging/api/third-party/v1.0.1 \\
    --code 1000001
Add --help for all it takes.`;

/** Runs one command line, without the program's own name. @returns the exit code. */
export async function runCommandLine(words: readonly string[], runtime: Runtime): Promise<number> {
  const program = createProgram(runtime);
  try {
    program.parse(words, { from: "user" });
    const flags = program.opts<Flags>();
    const options = optionsOf(flags, runtime);
    checkOptions(options);
    checkDestinations(flags);
    const outputs = openOutputs(flags, runtime);
    const report = await runConformance(options);
    writeOutputs(report, outputs);
    return report.ok ? EXIT.holds : EXIT.fails;
  } catch (error) {
    return conclude(error, runtime);
  }
}

function createProgram({ version, stdout, stderr }: Runtime): Command {
  return new Command("conformance")
    .description(
      "Checks a service against the Subscription Top-up Service Interface.\nSpends nothing without --top-up.",
    )
    .version(version)
    .requiredOption("--base <url>", "the provider's BASE, with a version at its end")
    .requiredOption("--code <code>", "a customer to look at: id, mobile number, STB number or username")
    .option("--token <token>", "the access token")
    .option("--token-file <file>", "a file that holds the access token")
    .option("--api <versions>", "which versions to check", "v1.0.1,v1.0.0")
    .option("--top-up", "make one top-up per version, which spends")
    .option("--expiry", "wait 5 minutes, then try an expired checkoutId")
    .option("--service <service>", "what to top up: tv, internet or iptv")
    .option("--req-id <reqId>", "what to top up: an STB number or username")
    .option("--bouquet <code>", "what to buy; by default the cheapest")
    .addOption(new Option("--profile <name>", "check topupd's own decisions too").choices(["topupd"]))
    .option("--webhook-port <port>", "receive topupd's webhook on 127.0.0.1")
    .option("--webhook-secret <secret>", "the secret of that webhook")
    .option("--timeout <seconds>", "for one request; four times for a top-up", "10")
    .option("--json <file>", "write the report as JSON; - is stdout")
    .option("--junit <file>", "write the report as JUnit XML; - is stdout")
    .addHelpText("after", HELP_END)
    .allowExcessArguments(false)
    .exitOverride()
    .configureHelp({ helpWidth: 80 })
    .configureOutput({
      writeOut: stdout,
      writeErr: stderr,
      outputError: (text, print) => print(withoutValues(text).replace(/^error:/, "conformance:")),
    })
    .showHelpAfterError(EXAMPLE);
}

/** @throws WrongOption */
function optionsOf(flags: Flags, runtime: Runtime): ConformanceOptions {
  if (!/^\d+(\.\d+)?$/.test(flags.timeout)) throw new WrongOption("--timeout takes seconds, such as 10");
  const purchase: Purchase = {
    ...(flags.service === undefined ? {} : { service: flags.service as Service }),
    ...(flags.reqId === undefined ? {} : { reqId: flags.reqId }),
    ...(flags.bouquet === undefined ? {} : { bouquetId: flags.bouquet }),
  };
  return {
    base: flags.base,
    token: readToken(flags, runtime),
    code: flags.code,
    versions: flags.api.split(",") as Version[],
    ...(flags.profile === undefined ? {} : { profile: flags.profile }),
    topUp: flags.topUp === true,
    expiry: flags.expiry === true,
    purchase,
    ...webhookOf(flags, runtime),
    timeoutMs: Number(flags.timeout) * 1000,
    onProgress: (line) => runtime.stderr(`${line}\n`),
    ...(runtime.wait === undefined ? {} : { wait: runtime.wait }),
  };
}

/** @throws WrongOption */
function webhookOf({ webhookPort, webhookSecret }: Flags, { env }: Runtime): Pick<ConformanceOptions, "webhook"> {
  if (webhookPort === undefined && webhookSecret === undefined) return {};
  const secret = webhookSecret ?? env["CONFORMANCE_WEBHOOK_SECRET"]?.trim();
  if (webhookPort === undefined || secret === undefined)
    throw new WrongOption("give --webhook-port with --webhook-secret SECRET, or set CONFORMANCE_WEBHOOK_SECRET");
  return { webhook: { port: /^\d{1,5}$/.test(webhookPort) ? Number(webhookPort) : Number.NaN, secret } };
}

/** @throws WrongOption */
function readToken({ token, tokenFile }: Flags, { env, readFile }: Runtime): string {
  if (token !== undefined && tokenFile !== undefined) throw new WrongOption("give --token or --token-file, not both");
  if (token !== undefined) return token;
  if (tokenFile !== undefined) return onFile("--token-file", () => readFile(tokenFile)).trim();
  const given = env["CONFORMANCE_TOKEN"]?.trim();
  if (given !== undefined && given !== "") return given;
  throw new WrongOption("an access token is needed: give --token-file FILE, or set CONFORMANCE_TOKEN");
}

/** Prints the error, unless commander has printed it. */
function conclude(error: unknown, { stderr }: Runtime): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.holds : EXIT.wrongUsage;
  if (error instanceof WrongOption) {
    stderr(`conformance: ${error.message}\n${EXAMPLE}\n`);
    return EXIT.wrongUsage;
  }
  if (error instanceof TokenRefused || error instanceof ServiceUnreachable) {
    stderr(`conformance: ${error.message}\n`);
    return error instanceof TokenRefused ? EXIT.wrongUsage : EXIT.unreachable;
  }
  stderr(describeBreakdown(error));
  return EXIT.broken;
}

/** Looks like an option, not like a value. */
const NAME = /^--[a-z][a-z-]{0,15}$/;

/** Commander's error message without the quoted values: one may be the token. */
function withoutValues(text: string): string {
  return text
    .replace(/unknown option '([\s\S]*)'/, (_, typed: string) => {
      const [name = ""] = typed.split("=");
      return NAME.test(name) ? `unknown option '${name}'` : "unknown option";
    })
    .replace(/ argument '[\s\S]*' is invalid/, " argument is invalid")
    .replace(/unknown command '[\s\S]*'/, "unknown command");
}

/** The stack of an unexpected error, without its message, which may quote the service. */
export function describeBreakdown(error: unknown): string {
  const { name, stack } = error instanceof Error ? error : { name: "an error of no kind", stack: "" };
  const places = (stack ?? "").split("\n").filter((line) => /^ {4}at /.test(line));
  return [`conformance: the kit itself broke down, which says nothing of the service: ${name}`, ...places, ""].join(
    "\n",
  );
}
