import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform } from "node:os";
import { fileURLToPath } from "node:url";
import { MUTANTS } from "./mutants/table.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const RESULTS = `${ROOT}docs/reliability.json`;
export const PAGE = `${ROOT}docs/reliability.md`;

/** A campaign of a round: its flags, and the counts that are read from its report. */
interface Run {
  readonly campaign: string;
  readonly stores: readonly ("sqlite" | "postgres")[];
  readonly flags: string;
  readonly counts: Readonly<Record<string, RegExp>>;
}

const KILLS = /(\d+) kills/;
const BOTH = ["sqlite", "postgres"] as const;
const SQLITE = ["sqlite"] as const;
const POSTGRES = ["postgres"] as const;

const RUNS: readonly Run[] = [
  {
    ...{ campaign: "kill", stores: BOTH, flags: "--rounds 40 --workers 4" },
    counts: { kills: KILLS, "restarts of PostgreSQL": /(\d+) restarts/, "top-ups": /(\d+) acknowledged/ },
  },
  {
    campaign: "faults",
    stores: BOTH,
    flags: "--rounds 28 --workers 2",
    counts: { faults: /(\d+) faults/, "top-ups": /(\d+) acknowledged/ },
  },
  {
    ...{ campaign: "failover", stores: POSTGRES, flags: "--rounds 3" },
    counts: {
      failovers: /^(\d+) fail/,
      "top-ups": /(\d+) acknow/,
      "failovers of the control that lose": /l: (\d+) of/,
    },
  },
  { campaign: "commands", stores: BOTH, flags: "--rounds 3", counts: { "killed commands": KILLS } },
  { campaign: "race", stores: BOTH, flags: "--rounds 20", counts: { rounds: /^(\d+) rounds/ } },
  {
    ...{ campaign: "prepaid", stores: BOTH, flags: "--rounds 10 --top-ups 500 --covered 150" },
    counts: { kills: KILLS, rounds: /^(\d+) rounds/ },
  },
  {
    ...{ campaign: "counter", stores: BOTH, flags: "--events 500 --rounds 8 --workers 2" },
    counts: { kills: KILLS, sales: /^(\d+) sales/ },
  },
  { campaign: "midnight", stores: BOTH, flags: "--rounds 10", counts: { "top-ups": /(\d+) top-ups/ } },
  {
    ...{ campaign: "clocks", stores: BOTH, flags: "--rounds 150" },
    counts: { "times set back": /back (\d+) times/, "times set forth": /forth (\d+) times/ },
  },
  { campaign: "month", stores: BOTH, flags: "--rounds 3", counts: { "top-ups": /^(\d+) top-ups/ } },
  { campaign: "model", stores: BOTH, flags: "--rounds 200", counts: { stories: /^(\d+) stories/ } },
  { campaign: "practice", stores: BOTH, flags: "--rounds 30", counts: { kills: KILLS, sequences: /^(\d+) seq/ } },
  {
    campaign: "deliver",
    stores: BOTH,
    flags: "--events 2000 --rounds 4",
    counts: { kills: KILLS, events: /^(\d+) ev/ },
  },
  {
    ...{ campaign: "power", stores: SQLITE, flags: "--images 2000" },
    counts: { "crash images": /^(\d+) images/, "images of the control that lose": /control: (\d+) of/ },
  },
  {
    ...{ campaign: "sessions", stores: BOTH, flags: "--changes 500" },
    counts: { kills: KILLS, "altering changes": /^(\d+) alt/ },
  },
  { campaign: "due", stores: BOTH, flags: "--rounds 100", counts: { stories: /^(\d+) stories/ } },
  { campaign: "facts", stores: BOTH, flags: "--facts 2000", counts: { kills: KILLS, facts: /^(\d+) facts/ } },
  { campaign: "lossy", stores: SQLITE, flags: "--rounds 400", counts: { "top-ups": /^(\d+) top-ups/ } },
  { campaign: "statement", stores: SQLITE, flags: "--events 20000", counts: { "top-ups": /^(\d+) top-ups/ } },
  { campaign: "paid-time", stores: SQLITE, flags: "--rounds 3000", counts: { histories: /^(\d+) hist/ } },
  { campaign: "doors", stores: SQLITE, flags: "--rounds 20000", counts: { requests: /with (\d+) requests/ } },
];

/** The counts of one version, whose last run was at this commit. */
export interface Reliability {
  readonly version: string;
  readonly commit: string;
  readonly machine: string;
  readonly campaigns: Readonly<Record<string, Tried>>;
}

interface Tried {
  /** The seed of each run. */
  readonly seeds: readonly number[];
  readonly falls: number;
  readonly seconds: number;
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Runs all campaigns in turn, each with a seed of its own, until the time is over, and adds their counts to
 * docs/reliability.json. The counts begin anew with a version. @throws Error that names the command of each fall.
 */
export async function all({ seed, minutes }: { readonly seed: number; readonly minutes: number }): Promise<string> {
  const until = Date.now() + minutes * 60_000;
  const falls: string[] = [];
  let runs = 0;
  for (let next = seed; ; next += 1) {
    for (const { campaign, stores, flags, counts } of RUNS) {
      for (const store of stores) {
        if (Date.now() >= until) {
          if (falls.length > 0) throw new Error(`${falls.length} falls:\n${falls.join("\n")}`);
          return `${runs} runs of ${RUNS.length} campaigns, no fall; ${MUTANTS.length} mutants: npm run campaign -- mutants`;
        }
        const words = [campaign, "--store", store, "--seed", String(next), ...flags.split(" ")];
        const began = Date.now();
        const { code, report } = await run(words);
        if (/^skipped/m.test(report)) continue;
        runs += 1;
        const found = Object.entries(counts).map(
          ([name, form]) => [name, Number(form.exec(report)?.[1] ?? 0)] as const,
        );
        add(`${campaign} ${store}`, {
          seed: next,
          falls: code === 0 ? 0 : 1,
          seconds: (Date.now() - began) / 1_000,
          counts: found,
        });
        process.stdout.write(`${code === 0 ? "ok  " : "FALL"} ${words.join(" ")}: ${report.trim().split("\n")[0]}\n`);
        if (code !== 0) falls.push(`npm run campaign -- ${words.join(" ")}`);
      }
    }
  }
}

async function run(words: readonly string[]): Promise<{ readonly code: number; readonly report: string }> {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", main, ...words], { cwd: ROOT });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => chunks.push(text));
  const [code] = await once(child, "close");
  return { code: code ?? 1, report: chunks.join("") };
}

interface Ran extends Omit<Tried, "seeds" | "counts"> {
  readonly seed: number;
  readonly counts: readonly (readonly [string, number])[];
}

function add(name: string, { seed, falls, seconds, counts }: Ran): void {
  const { version } = JSON.parse(readFileSync(`${ROOT}packages/server/package.json`, "utf8")) as { version: string };
  const none: Reliability = { version, commit: commitNow(), machine: "", campaigns: {} };
  const read = existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, "utf8")) as Reliability) : none;
  const known = read.version === version ? read : none;
  const before = known.campaigns[name] ?? { seeds: [], falls: 0, seconds: 0, counts: {} };
  const sums = counts.map(([label, count]) => [label, (before.counts[label] ?? 0) + count] as const);
  const tried: Tried = {
    seeds: [...before.seeds, seed],
    falls: before.falls + falls,
    seconds: Math.round(before.seconds + seconds),
    counts: Object.fromEntries(sums),
  };
  const machine = `${platform()} ${arch()}, ${cpus().length} cores, Node.js ${process.version}`;
  const campaigns = { ...known.campaigns, [name]: tried };
  const now: Reliability = { version, commit: commitNow(), machine, campaigns };
  writeFileSync(RESULTS, `${JSON.stringify(now, undefined, 2)}\n`);
  writeFileSync(PAGE, withCounts(readFileSync(PAGE, "utf8"), now));
}

/** The page with the table of these counts between its two marks. */
export function withCounts(page: string, { version, commit, machine, campaigns }: Reliability): string {
  const names = new Set(Object.keys(campaigns).map((name) => name.split(" ")[0] ?? ""));
  const rows = [...names].map((campaign) => {
    const both = BOTH.map((store) => campaigns[`${campaign} ${store}`]);
    const runs = both.reduce((sum, tried) => sum + (tried?.seeds.length ?? 0), 0);
    const falls = both.reduce((sum, tried) => sum + (tried?.falls ?? 0), 0);
    return `| ${[campaign, runs, falls, ...both.map(countsOf)].join(" | ")} |`;
  });
  const lines = [
    `Version ${version}, up to commit ${commit}, on ${machine}:`,
    "",
    "| Campaign | Runs | Falls | Tried on SQLite | Tried on PostgreSQL |",
    "|---|---|---|---|---|",
    ...rows,
  ];
  return page.replace(/(<!-- counts -->\n)[\s\S]*(<!-- end -->)/, (_, begin: string, end: string) => {
    return `${begin}\n${lines.join("\n")}\n\n${end}`;
  });
}

function countsOf(tried: Tried | undefined): string {
  const counted = Object.entries(tried?.counts ?? {}).filter(([, count]) => count > 0);
  return counted.map(([label, count]) => `${count} ${label}`).join(", ") || "–";
}

function commitNow(): string {
  return (
    spawnSync("git", ["rev-parse", "--short=8", "HEAD"], { cwd: ROOT, encoding: "utf8" }).stdout?.trim() || "unknown"
  );
}
