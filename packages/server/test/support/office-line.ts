import { createReadStream, readFileSync, statSync, writeFileSync } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { Readable } from "node:stream";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { WallTime } from "../../src/domain/wall-time.ts";
import { runCommandLine } from "../../src/faces/cli/program.ts";
import type { FirstRunTools, Runtime } from "../../src/faces/cli/runtime.ts";
import { listPackages } from "../../src/partner/customers.ts";
import { topUp } from "../../src/partner/top-ups.ts";
import type { Ports } from "../../src/store/ports.ts";
import { openPostgresStore, readPostgresMigrations } from "../../src/store/postgres/open.ts";
import { readSqliteMigrations } from "../../src/store/sqlite/migrate.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { accountTools, type ScryptCost } from "../../src/system/account-tools.ts";
import { createTemporaryFile, writeWholeFile } from "../../src/system/files.ts";
import { targetTools } from "../../src/targets/tools.ts";
import type { Finished } from "./command-line.ts";
import { partnersOf } from "./partners.ts";
import { CATALOGUE, SITA } from "./provider-files.ts";
import { seededRandom } from "./random.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/*
 * Commands as a provider's staff run them, in this process: on a database in a folder of the test's own, by a clock that
 * the test turns. A program is started only where a program is what is tested: see command-line.ts.
 */

export interface OfficeLine {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** Milliseconds since 1970. */
  now: number;
  /** What stands between the commands and their store. */
  wrapStore: (store: Store) => Store;
  targetTools: Runtime["targetTools"];
  /** What the disk makes of files that are written. */
  spoilFiles: (bytes: Uint8Array) => Uint8Array;
  /** The folder of the migrations; undefined: those of topupd. */
  migrations: URL | undefined;
  stdin: string;
  /** What somebody types at a terminal, line by line; undefined where there is none. */
  typed: string[] | undefined;
  /** Time zone of the machine. */
  timeZone: string;
  /** Does work as the user of the service. */
  asServiceUser: FirstRunTools["asServiceUser"];
  /** The unit that was started, "" before; undefined without systemd. */
  started: string | undefined;
  /** What happens while a command waits. */
  asleep: () => Promise<void>;
  /** Of a command that goes on until then; for ever, unless the test says otherwise. */
  askedToStop: Promise<string>;
  run(...words: readonly string[]): Promise<Finished & { readonly code: number }>;
  /** As run; throws unless the exit code is 0. @returns stdout. */
  mustRun(...words: readonly string[]): Promise<string>;
  /** As mustRun, of data: one JSON value. */
  // biome-ignore lint/suspicious/noExplicitAny: data are whatever the test expects of them
  json(...words: readonly string[]): Promise<any>;
  /** As mustRun, of data: one JSON value on each line. */
  // biome-ignore lint/suspicious/noExplicitAny: data are whatever the test expects of them
  rows(...words: readonly string[]): Promise<any[]>;
  /** Writes a file into the folder. @returns its name. */
  write(name: string, content: string | Uint8Array): string;
  /** Writes a file of rows. @returns its name. */
  ndjson(name: string, ...rows: readonly object[]): string;
  read(name: string): string;
  /** Works on the database itself. */
  inStore<Result>(work: (ports: Ports) => Promise<Result>): Promise<Result>;
}

export interface OfficeOptions {
  readonly now?: number;
  readonly folder?: string;
  readonly env?: Record<string, string>;
  /** Whether somebody watches stderr. */
  readonly isTerminal?: boolean;
}

/** 2026-11-23 09:00:00 UTC. */
export const MONDAY = Date.UTC(2026, 10, 23, 9);

export function officeLine(options: OfficeOptions = {}): OfficeLine {
  const { now = MONDAY, folder = temporaryFolder(), env = {}, isTerminal = false } = options;
  const random = seededRandom(5);
  const at = (name: string) => resolve(folder, name);
  const openStore: Runtime["openStore"] = async (config, how) => {
    const { database, timeZone, currencyExponent, defaultCountry, basePlans, monthsAhead } = config;
    const rules = { basePlans, monthsAhead };
    const settings = {
      timeZone,
      currencyExponent,
      defaultCountry,
      ...rules,
      clock: () => line.now,
      random,
      ...how,
      migrations: line.migrations,
    };
    const opening =
      database.store === "sqlite"
        ? openSqliteStore({ ...settings, path: at(database.path) })
        : openPostgresStore({ ...settings, url: database.url, connections: 4 });
    return line.wrapStore(await opening);
  };
  const runtimeOf = (said: { stdout: string; stderr: string }): Runtime => ({
    ...{ version: "0.0.0", program: "topupd", env: line.env, isTerminal, userName: () => "somebody" },
    ...{ clock: () => line.now, stopwatch: () => performance.now(), random, openStore, lowerPriority: () => {} },
    stdout: (text) => (said.stdout += text),
    stderr: (text) => (said.stderr += text),
    streamOut: async (pieces) => {
      for await (const piece of pieces) said.stdout += Buffer.from(piece).toString();
      return true;
    },
    readMigrations: async ({ database }) =>
      database.store === "sqlite"
        ? readSqliteMigrations(at(database.path), line)
        : readPostgresMigrations(database.url),
    openFile: (path) => {
      statSync(at(path));
      // In pieces that end anywhere.
      return createReadStream(at(path), { highWaterMark: 1_000 });
    },
    ...{ listFolder: (path) => readdir(at(path)), removeFile: (path) => unlink(at(path)) },
    writeFile: async (path, pieces, options) => {
      // Like a disk that alters what is written.
      const verify = async (unfinished: string) => {
        writeFileSync(unfinished, line.spoilFiles(readFileSync(unfinished)));
        await options.verify?.(relative(line.folder, unfinished));
      };
      return writeWholeFile(at(path), pieces, { ...options, suffix: "x", verify });
    },
    ...{ defaultWorkers: 1, supervisor: undefined, prepareProcesses: unwanted },
    ...{
      createMetrics: unwanted,
      createTemporaryFile: () => createTemporaryFile(at("copy-of-stdin")),
      consoleFolder: "",
      counterFolder: "",
    },
    openLog: unwanted,
    accounts: accountTools({ clock: () => line.now, random }, CHEAP),
    askSecretly:
      line.typed &&
      (async (question) => {
        said.stderr += question;
        return line.typed?.shift() ?? "";
      }),
    firstRun: {
      ask:
        line.typed &&
        (async (question) => {
          const answer = line.typed?.shift() ?? "";
          said.stderr += `${question}${answer}\n`;
          return answer;
        }),
      ...{
        timeZone: line.timeZone,
        hasSystemd: line.started !== undefined,
        asServiceUser: (work) => line.asServiceUser(work),
      },
      startService: async () => {
        line.started = "topupd";
      },
    },
    openStdin: () => Readable.from([Buffer.from(line.stdin)]),
    readStdin: async () => line.stdin,
    ...{ targetTools: line.targetTools, sleep: () => line.asleep() },
    untilAskedToStop: () => line.askedToStop,
  });
  const line: OfficeLine = {
    ...{ folder, now, wrapStore: (store) => store, spoilFiles: (bytes) => bytes, migrations: undefined },
    env: { TOPUPD_PRIVATE_TARGETS: "127.0.0.0/8,10.0.0.0/8", ...env },
    targetTools: (allowed) => targetTools({ clock: () => line.now, random }, allowed),
    ...{ asleep: unwanted, askedToStop: new Promise(() => {}), stdin: "", typed: undefined, started: undefined },
    ...{ timeZone: "Asia/Kathmandu", asServiceUser: (work) => work() },
    async run(...words) {
      const said = { stdout: "", stderr: "" };
      return { code: await runCommandLine(words, runtimeOf(said)), ...said };
    },
    async mustRun(...words) {
      const { code, stdout, stderr } = await line.run(...words);
      if (code !== 0) throw new Error(`topupd ${words.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    json: async (...words) => JSON.parse(await line.mustRun(...words, "--json")),
    rows: async (...words) => rowsOf(await line.mustRun(...words, "--json")),
    write(name, content) {
      writeFileSync(join(folder, name), content);
      return name;
    },
    ndjson: (name, ...rows) => line.write(name, rows.map((row) => `${JSON.stringify(row)}\n`).join("")),
    read: (name) => readFileSync(join(folder, name), "utf8"),
    async inStore(work) {
      const clock = () => line.now;
      const wishes = { timeZone: undefined, currencyExponent: undefined, basePlans: MANY };
      const store = await openSqliteStore({ ...wishes, clock, random, path: at("topupd.db") });
      try {
        return await work({ store, clock, random });
      } finally {
        await store.close();
      }
    },
  };
  return line;
}

/** A password of the tests is worth nothing. */
export const CHEAP: ScryptCost = { exponent: 4, blockSize: 1, parallel: 1 };
const MANY = { tv: "many", internet: "many", iptv: "many" } as const;

function unwanted(): never {
  throw new Error("a command of the office wants none of this");
}

/** What NDJSON holds. */
// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the test expects of them
export function rowsOf(ndjson: string): any[] {
  return ndjson
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** A provider with a catalogue, and Sita as its customer. */
export async function filledLine(options?: OfficeOptions): Promise<OfficeLine> {
  const line = officeLine(options);
  await line.mustRun("import", "catalogue", line.ndjson("catalogue.ndjson", ...CATALOGUE));
  await line.mustRun("import", "customers", line.ndjson("customers.ndjson", SITA));
  await line.mustRun("partner", "add", "wallet");
  return line;
}

/** Tops up as a partner does. @returns the txnId. */
export function buy(
  line: OfficeLine,
  { partner, udf1, ...key }: ConnectionKey & { readonly partner: string; readonly udf1?: string | undefined },
  bouquetCode: string,
): Promise<string> {
  return line.inStore(async (ports) => {
    const found = await partnersOf(ports.store).find(partner);
    if (found === undefined) throw new Error(`there is no partner ${partner}`);
    const caller = { partnerId: found.id, partnerName: partner, environment: key.environment, tokenId: undefined };
    const listed = await listPackages(ports, caller, key, 0);
    if (!listed.ok) throw new Error(listed.refusal);
    const { checkoutId, bouquets } = listed.value;
    const amount = bouquets.find(({ code }) => code === bouquetCode)?.price ?? 0n;
    const made = await topUp(ports, caller, { ...key, checkoutId, bouquetCode, amount, udf1 });
    if (!made.ok) throw new Error(made.refusal);
    return made.value.transaction.txnId;
  });
}

export const WALLET = "Blue Wallet of the Trade Unions";
export const SITA_NET = { environment: "production", cuid: SITA.cuid, service: "internet", reqId: "sita" } as const;
const SITA_TV = { ...SITA_NET, service: "tv", reqId: "00077" } as const;

const IMPORTED_AT = "2026-02-01 08:00:00";
const PURCHASES: readonly (readonly [when: WallTime, key: ConnectionKey, bouquet: string, udf1: string | undefined])[] =
  [
    ["2026-02-10 23:59:59", SITA_NET, "NET-3M", "order-1"],
    ["2026-02-11 00:00:00", SITA_NET, "NET-1M", undefined],
    ["2027-01-05 12:00:00", SITA_TV, "TV-1M", "order-3"],
  ];
/** When commands are run on it. */
const NOW = "2027-01-10 12:00:00";

/** Milliseconds since 1970, of a time in Kathmandu. */
export function kathmandu(wall: WallTime): number {
  return Date.parse(`${wall.replace(" ", "T")}+05:45`);
}

/** A provider in Kathmandu with three top-ups, of 3220.50, 1130 and 450, each at a time that the test knows. */
export async function historyLine(): Promise<OfficeLine> {
  const line = officeLine({ now: kathmandu(IMPORTED_AT), env: { TOPUPD_TIME_ZONE: "Asia/Kathmandu" } });
  const row = { ...SITA, connections: { ...SITA.connections, tv: [{ stb: SITA_TV.reqId, status: "inactive" }] } };
  await line.mustRun("import", "catalogue", line.ndjson("catalogue.ndjson", ...CATALOGUE));
  await line.mustRun("import", "customers", line.ndjson("customers.ndjson", row));
  await line.mustRun("partner", "add", WALLET);
  for (const [time, key, bouquetId, udf1] of PURCHASES) {
    line.now = kathmandu(time);
    await buy(line, { ...key, partner: WALLET, udf1 }, bouquetId);
  }
  line.now = kathmandu(NOW);
  await line.mustRun("trial", "reset");
  return line;
}
