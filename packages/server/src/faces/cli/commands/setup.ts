import { type Command, Option } from "commander";
import { readConfig, SETTINGS } from "../../../config.ts";
import { STAFF_NAME } from "../../../domain/names.ts";
import { perform } from "../../../office/operation.ts";
import { readPartners } from "../../../office/partners/sql.ts";
import { FIRST_SETTINGS, readSetup, setupOf } from "../../../office/setup/steps.ts";
import { shellWord, table } from "../../../office/text.ts";
import { v1_0_1 } from "../../../partner/versions/v1_0_1.ts";
import { changeEnvFile, readEnvFile } from "../../../system/env-file.ts";
import { actorOf, addCommand, withStore } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { CommandFailed, FoundWrong, isFileError, withFile } from "../failures.ts";
import { openedFile } from "../files.ts";
import {
  askFirstSettings,
  changedSettings,
  type FirstSettingName,
  firstSettings,
  type GivenSettings,
} from "../first-settings.ts";
import type { Runtime } from "../runtime.ts";

const ENV_FILE = "/etc/topupd/topupd.env";
/** Database of the installed service. */
const DATABASE = "sqlite:/var/lib/topupd/topupd.db";
const PASSWORD_BYTES = 12;
const FIRST_ADMIN = "admin";
const QUIET = { stdout: () => {} };

interface Flags extends GivenSettings {
  readonly settingsFile: string;
  readonly yes?: boolean;
  readonly admin?: string;
  readonly catalogue?: string;
  readonly customers?: string;
  readonly partner?: string;
  readonly trialToken?: boolean;
  /** Undefined if neither `--start` nor `--no-start` is given. */
  readonly start?: boolean;
}

type RunCommandLine = (words: readonly string[], runtime: Runtime) => Promise<number>;

/** Adds `topupd setup`. @param run runs another command: each step is one. */
export function addSetupCommand(program: Command, runtime: Runtime, run: RunCommandLine): void {
  addCommand<Flags>(program, runtime, {
    name: "setup",
    description:
      "make the first run step by step; without a terminal and flags, list the steps (exit code 3: not all done)",
    options: [
      new Option("--settings-file <FILE>", "environment file of the service, which is written").default(ENV_FILE),
      new Option("--yes", "ask nothing, and take the defaults"),
      new Option("--admin <NAME>", "name of the first admin, whose password is printed once"),
      new Option("--catalogue <FILE>", "catalogue to preview and import"),
      new Option("--customers <FILE>", "customers to preview and import"),
      new Option("--partner <NAME>", "name of the first partner"),
      new Option("--trial-token", "issue the partner's trial token, which is printed once"),
      new Option("--start", "start the service at the end"),
      new Option("--no-start", "do not start the service"),
    ],
    examples: [
      "topupd setup",
      "topupd setup --yes --currency NPR --partner Bank",
      "topupd setup --settings-file ./topupd.env",
    ],
    json: false,
    settings: FIRST_SETTINGS.map(([name]) => name),
    run: (_context, _words, flags) => new FirstRun(runtime, run, flags).make(),
  });
}

type State = ReturnType<typeof setupOf>;
type Step = State["steps"][number]["step"];

/** One call of the command. */
class FirstRun {
  readonly #runtime: Runtime;
  readonly #run: RunCommandLine;
  readonly #flags: Flags;
  /** Undefined if nothing is asked. */
  readonly #ask: Runtime["firstRun"]["ask"];
  readonly #author: readonly string[];
  /** All settings, by variable. */
  #env: Readonly<Record<string, string | undefined>>;

  constructor(runtime: Runtime, run: RunCommandLine, flags: Flags) {
    this.#runtime = runtime;
    this.#run = run;
    this.#flags = flags;
    this.#ask = flags.yes === true ? undefined : runtime.firstRun.ask;
    this.#author = ["--as", actorOf(runtime).name];
    this.#env = runtime.env;
  }

  /** @throws FoundWrong if a step is not done. */
  async make(): Promise<void> {
    const { stdout, stderr } = this.#runtime;
    const given = this.#given();
    const { yes, admin, catalogue, customers, partner, trialToken, start } = this.#flags;
    const others = [yes, admin, catalogue, customers, partner, trialToken, start];
    const isActive = this.#ask !== undefined || [...others, ...Object.values(given)].some((each) => each !== undefined);
    const { isSettled, write } = await this.#settle(given, isActive);
    // A database that is there may refuse the settings: they are written when it has taken them.
    if (isActive && isSettled) await this.#migrate();
    await write();
    if (isActive && !isSettled) stderr("The other steps need all settings: give them, or --yes for the defaults.\n");
    if (isActive && isSettled) await this.#makeSteps();
    const state = await this.#read();
    if (isActive && isSettled) await this.#start();
    stdout(linesOf(state));
    if (!state.isDone) throw new FoundWrong("steps of the first run are not done");
  }

  /** Values of the flags of settings. */
  #given(): GivenSettings {
    const given = FIRST_SETTINGS.map(([name]) => [name, this.#flags[name as FirstSettingName]] as const);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }

  /**
   * Asks for missing settings.
   * @returns whether all that are needed are set, and what writes them into the environment file. A new database stores
   *   them, so no other step comes before.
   */
  async #settle(given: GivenSettings, isActive: boolean) {
    const { settingsFile, yes } = this.#flags;
    const runtime = this.#runtime;
    const text = await withFile(settingsFile, "be read", () => readOrEmpty(runtime, settingsFile));
    const inFile = readEnvFile(text);
    const env = { ...runtime.env, ...inFile };
    const areSet = (of: typeof env) => setupOf(firstSettings(readConfig(of, given))).steps[0]?.isDone === true;
    const isAsked = isActive && !areSet(env) && (this.#ask !== undefined || yes === true);
    const database = settingsFile === ENV_FILE ? DATABASE : (SETTINGS.database.fallback as string);
    const asking = { runtime, env, given, database, ask: this.#ask };
    const changes = changedSettings(inFile, isAsked ? await askFirstSettings(asking) : given);
    this.#env = { ...env, ...changes };
    const write = async () => {
      if (Object.keys(changes).length === 0) return;
      const content = [Buffer.from(changeEnvFile(text, changes))];
      await withFile(settingsFile, "be written", () =>
        runtime.writeFile(settingsFile, piecesOf(content), { replace: true }),
      );
      runtime.stderr(`The settings are in ${settingsFile}.\n`);
    };
    return { isSettled: areSet(this.#env), write };
  }

  async #migrate(): Promise<void> {
    if ((await this.#command(["migrate"], QUIET)) !== 0)
      throw new CommandFailed("the database is not ready: change this, and run topupd setup again");
  }

  async #makeSteps(): Promise<void> {
    const { steps } = await this.#read();
    const isOpen = (wanted: Step) => steps.some(({ step, isDone }) => step === wanted && !isDone);
    if (isOpen("admin")) await this.#addAdmin();
    for (const what of ["catalogue", "customers"] as const) if (isOpen(what)) await this.#import(what);
    if (isOpen("partner")) await this.#addPartner();
    if (isOpen("trial_token")) await this.#issueToken();
  }

  async #addAdmin(): Promise<void> {
    const { random, stdout, stderr } = this.#runtime;
    const { passwordLogIn, consolePort } = readConfig(this.#env, {});
    if (!passwordLogIn) {
      stderr("The first log-in of an admin with OpenID Connect adds the first admin.\n");
      return;
    }
    const [, person = ""] = this.#author;
    const usual = STAFF_NAME.test(person) && person !== "root" ? person : FIRST_ADMIN;
    const name = await this.#textOf(this.#flags.admin, "Name of the first admin", usual);
    if (name === undefined) return;
    const password = Buffer.from(random(PASSWORD_BYTES)).toString("base64url");
    const words = ["staff", "add", name, "--role", "admin", "--password-stdin", ...this.#author];
    if ((await this.#command(words, { ...QUIET, readStdin: async () => password })) !== 0) return;
    stdout(`Password of ${name}: ${password}\n`);
    stderr("This is the only time that the password is shown. It must be changed at the first log-in.\n");
    if (consolePort === undefined) stderr("The service has a console if you set TOPUPD_CONSOLE_PORT.\n");
  }

  async #import(what: "catalogue" | "customers"): Promise<void> {
    const file = await this.#textOf(this.#flags[what], `File of the ${what}`, undefined);
    if (file === undefined) return;
    const words = ["import", what, file, ...this.#author];
    // The service's user cannot enter the home folder of the person. If this opens nothing, the command says why.
    const opened = await openedFile(file).catch(() => undefined);
    const openFile = opened?.read ?? this.#runtime.openFile;
    // The last line has the counts. The changes, several for each bouquet, would move the password off the screen.
    const stdout = (text: string) => this.#runtime.stdout(text.replace(/^.*\n(?=.)/s, ""));
    try {
      if ((await this.#command([...words, "--preview"], { openFile, stdout })) !== 0)
        this.#runtime.stderr(`Nothing of ${file} was imported: change it, and run topupd setup again.\n`);
      else if (this.#ask === undefined || (await this.#agrees(`Import the ${what}?`)))
        await this.#command(words, { openFile });
    } finally {
      await opened?.close();
    }
  }

  async #addPartner(): Promise<void> {
    const name = await this.#textOf(this.#flags.partner, "Name of the first partner", undefined);
    if (name !== undefined) await this.#command(["partner", "add", name, ...this.#author], QUIET);
  }

  async #issueToken(): Promise<void> {
    const { trialToken, partner: wanted } = this.#flags;
    const [partners, hasCatalogue] = await this.#inStore(async (store) => {
      const catalogue = await store.currentCatalogue("trial", this.#runtime.clock());
      return [await readPartners(store.engine.db), catalogue !== undefined] as const;
    });
    const { name } = partners.find((each) => each.name === wanted) ?? partners[0] ?? {};
    if (name === undefined || !(await this.#agrees(`Issue a trial token for ${name}?`, trialToken))) return;
    if (!hasCatalogue) await this.#command(["trial", "reset", ...this.#author]);
    await this.#command(["token", "issue", "--partner", name, "--environment", "trial", ...this.#author]);
    const { publicUrl, host, port, prefix } = readConfig(this.#env, {});
    const base = `${publicUrl ?? `http://${host}:${port}`}${prefix}/${v1_0_1.name}`;
    this.#runtime.stderr(`The partner needs this token and BASE=${base}\n`);
  }

  async #start(): Promise<void> {
    const { firstRun, stderr, program } = this.#runtime;
    const { start, yes, settingsFile } = this.#flags;
    if (start === false || (start === undefined && this.#ask === undefined && yes !== true)) return;
    if (!firstRun.hasSystemd) {
      // The command of the package reads the settings of the service, and becomes its user.
      const load = `set -a; . ${shellWord(settingsFile)}; set +a; ${program}`;
      stderr(`Start the service with: ${settingsFile === ENV_FILE ? "topupd" : load} serve\n`);
    } else if (await this.#agrees("Start the service now?", start)) {
      await firstRun.startService();
      stderr("The service runs.\n");
    } else stderr("Start the service with: systemctl enable --now topupd\n");
  }

  /** A text by flag, by answer or by default. @returns undefined if there is none. */
  async #textOf(flag: string | undefined, question: string, usual: string | undefined): Promise<string | undefined> {
    if (flag !== undefined) return flag;
    if (this.#ask === undefined) return this.#flags.yes === true ? usual : undefined;
    return (await this.#ask(`${question} [${usual ?? "later"}]: `)).trim() || usual;
  }

  /** Whether the flag or the answer is yes. */
  async #agrees(question: string, flag?: boolean): Promise<boolean> {
    if (flag !== undefined) return flag;
    if (this.#ask === undefined) return this.#flags.yes === true;
    return /^(?:y|yes|)$/i.test((await this.#ask(`${question} [yes]: `)).trim());
  }

  /** Runs another command with the settings. @returns its exit code. */
  #command(words: readonly string[], changes: Partial<Runtime> = {}): Promise<number> {
    const runtime = { ...this.#runtime, env: this.#env, ...changes };
    return runtime.firstRun.asServiceUser(() => this.#run(words, runtime));
  }

  #inStore<Result>(work: Parameters<typeof withStore<Result>>[3]): Promise<Result> {
    const config = readConfig(this.#env, {});
    return this.#runtime.firstRun.asServiceUser(() => withStore(config, this.#runtime, { mustExist: true }, work));
  }

  /** Reads the steps. Without a database, only settings can be done. */
  async #read(): Promise<State> {
    const runtime = this.#runtime;
    const config = readConfig(this.#env, {});
    const migrations = await runtime.firstRun.asServiceUser(() => runtime.readMigrations(config));
    if (migrations.every(({ state }) => state === "pending")) return setupOf(firstSettings(config));
    const { clock, random } = runtime;
    return this.#inStore((store) =>
      perform(readSetup, shellDesk({ store, clock, random, runtime, config, actor: actorOf(runtime) }), {}),
    );
  }
}

function linesOf({ steps }: State): string {
  const rows = steps.map(({ title, isDone, command }) => ({
    step: title,
    done: isDone ? "yes" : "no",
    command: isDone ? null : command,
  }));
  return table(["step", "done", "command"], rows);
}

async function readOrEmpty({ openFile }: Runtime, file: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of openFile(file)) pieces.push(piece);
  } catch (error) {
    if (isFileError(error) && error.code === "ENOENT") return "";
    throw error;
  }
  return Buffer.concat(pieces).toString();
}

async function* piecesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
