import { runCommandLine } from "../../src/cli/program.ts";
import type { Runtime } from "../../src/cli/runtime.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import { importCatalogue } from "../../src/operations/import-catalogue.ts";
import { importCustomers } from "../../src/operations/import-customers.ts";
import { listPackages } from "../../src/operations/list-packages.ts";
import type { StaffPorts } from "../../src/operations/ports.ts";
import { topUp } from "../../src/operations/top-up.ts";
import { resetTrial } from "../../src/operations/trial.ts";
import { openScratchFile } from "../../src/scratch-file.ts";
import type { MakeDatabase, TestDatabase } from "../store-suite/database.ts";
import { by } from "./by.ts";
import { CATALOGUE, SITA } from "./provider-files.ts";
import { seededRandom } from "./random.ts";
import { ndjson } from "./service.ts";

/*
 * Commands in this process, on a provider in Kathmandu with a few top-ups, each at a time that the test knows:
 * what is printed tells of times.
 */

const NET = { environment: "production", cuid: SITA.cuid, service: "internet", reqId: "sita" } as const;
const TV = { ...NET, service: "tv", reqId: "00077" } as const;

const IMPORTED_AT = "2026-02-01 08:00:00";
const PURCHASES: readonly (readonly [when: string, key: ConnectionKey, bouquet: string, udf1: string | undefined])[] = [
  ["2026-02-10 23:59:59", NET, "NET-3M", "order-1"],
  ["2026-02-11 00:00:00", NET, "NET-1M", undefined],
  ["2027-01-05 12:00:00", TV, "TV-1M", "order-3"],
];
/** When the commands are run. */
const NOW = "2027-01-10 12:00:00";

export interface HistoryLine {
  readonly database: TestDatabase;
  readonly run: (
    ...words: readonly string[]
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** From now on, commands are run at this time of the provider's zone. */
  readonly setTime: (time: string) => Promise<void>;
  /** Puts a file where the commands find it. */
  readonly write: (name: string, content: string | Uint8Array) => void;
  /** Changes what the commands find. */
  readonly change: <Result>(work: (ports: StaffPorts) => Promise<Result>) => Promise<Result>;
}

export async function historyLine(makeDatabase: MakeDatabase): Promise<HistoryLine> {
  const database = makeDatabase();
  const world = { now: 0, random: seededRandom(5) };
  const clock = () => world.now;
  const files = new Map<string, Uint8Array>();
  const open = () => database.open({ clock, random: world.random, timeZone: "Asia/Kathmandu" });
  const change: HistoryLine["change"] = async (work) => {
    const store = await open();
    try {
      return await work({ store, clock, random: world.random, author: "tester" });
    } finally {
      await store.close();
    }
  };
  const setTime = ({ store }: StaffPorts, time: string) => {
    world.now = store.provider.calendar.parse(time) as number;
  };
  await change((ports) => fill(ports, (time) => setTime(ports, time)));
  return {
    database,
    setTime: (time) => change(async (ports) => setTime(ports, time)),
    write: (name, content) => files.set(name, Buffer.from(content as string)),
    change,
    run: async (...words) => {
      const said = { stdout: "", stderr: "" };
      const runtime = {
        ...{
          version: "0.0.0",
          env: {},
          isTerminal: false,
          userName: () => "somebody",
          clock,
          random: world.random,
          openStore: open,
        },
        giveWay: () => {},
        openScratch: openScratchFile,
        openFile: (name: string) => piecesOf(files.get(name)),
        stdout: (text: string) => (said.stdout += text),
        streamOut: async (pieces: AsyncIterable<Uint8Array>) => {
          for await (const piece of pieces) said.stdout += Buffer.from(piece).toString();
          return true;
        },
        stderr: (text: string) => (said.stderr += text),
      } as unknown as Runtime;
      return { code: await runCommandLine(words, runtime), ...said };
    },
  };
}

async function fill(ports: StaffPorts, setTime: (time: string) => void): Promise<void> {
  setTime(IMPORTED_AT);
  const partner = await ports.store.addPartner("Blue Wallet of the Trade Unions", by(ports.clock()));
  if (partner === "name_taken") throw new Error(partner);
  const row = { ...SITA, connections: { ...SITA.connections, tv: [{ stb: TV.reqId, status: "inactive" }] } };
  await importCatalogue(ports, "production", ndjson(CATALOGUE), EXPECT_GOOD);
  await importCustomers(ports, "production", () => ndjson([row]), "unsaid", EXPECT_GOOD);
  for (const [time, key, bouquetId, udf1] of PURCHASES) {
    setTime(time);
    const caller = { partnerId: partner.id, partnerName: partner.name, environment: key.environment };
    const listed = await listPackages(ports, caller, key, 0);
    if (!listed.ok) throw new Error(listed.refusal);
    const { checkoutId, bouquets } = listed.value;
    const amount = bouquets.find(({ code }) => code === bouquetId)?.price ?? 0n;
    const made = await topUp(ports, caller, { ...key, checkoutId, bouquetId, amount, udf1 });
    if (!made.ok) throw new Error(made.refusal);
  }
  setTime(NOW);
  await resetTrial(ports);
}

/** As a disk gives it, in pieces that end anywhere. */
async function* piecesOf(file: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (file === undefined) throw Object.assign(new Error("no such file"), { syscall: "open", path: "" });
  for (let at = 0; at < file.length; at += 7) yield file.subarray(at, at + 7);
}

const EXPECT_GOOD = {
  skipInvalid: false,
  onProgress: () => {},
  onRejected: (rejected: unknown) => {
    throw new Error(`the test's own data is wrong: ${JSON.stringify(rejected)}`);
  },
};
