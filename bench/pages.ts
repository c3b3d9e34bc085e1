import { join } from "node:path";
import { parseArgs } from "node:util";
import { topUps } from "./bodies.ts";
import { call } from "./calls.ts";
import { temporaryFolder } from "./clean-up.ts";
import { CUID, fillDesk, IDLE_PARTNER, TARGET } from "./desk.ts";
import { TOP_UP } from "./operations.ts";
import { readCount } from "./options.ts";
import { freePort, runTopupd, SERVE, startServer } from "./processes.ts";
import { report } from "./report.ts";
import { type Figure, say } from "./results.ts";
import { median } from "./rounds.ts";

const DEFAULTS = { customers: "1000000", each: "10" } as const;
/** More top-ups of the customer whose page is measured. */
const MORE = 50;
const ROUNDS = 5;
/** An answer slower than this is not measured again. */
const SLOW_MS = 3_000;
const MOST_MS = 300;
const DAY_MS = 86_400_000;

const ONE_WORKER = [...SERVE, "--workers", "1"];

interface Asked {
  readonly page: string;
  readonly path: string;
}

/** `npm run bench -- console pages`: how soon each page of the console has its first rows, at a million customers. */
export async function reportPages(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      customers: { type: "string", default: DEFAULTS.customers },
      each: { type: "string", default: DEFAULTS.each },
    },
  });
  const [customers, each] = [readCount("customers", values.customers), readCount("each", values.each)];
  say(`a database of ${customers} customers and ${customers * each} top-ups`);
  const figures = await measurePages(join(temporaryFolder("pages"), "desk"), customers, each);
  await report({ comparisons: [], figures }, undefined, []);
}

/** @param folder a new folder for the database. @param each number of top-ups of each customer. */
export async function measurePages(folder: string, customers: number, each: number): Promise<Figure[]> {
  const { token, target } = await fillDesk(folder, customers, each);
  const key = (await runTopupd(["staff", "key", "add", "bench", "--role", "admin"], { cwd: folder })).trim();
  const first = await startServer(ONE_WORKER, {}, folder);
  try {
    for (const body of topUps({ ...target, customers: 1 }, MORE))
      await call({ server: first, operation: TOP_UP, token, body });
  } finally {
    await first.stop();
  }
  const port = String(await freePort());
  const server = await startServer([...ONE_WORKER, "--console-port", port], {}, folder);
  try {
    return await measureAll(new Person(`http://127.0.0.1:${port}/api/v1`, key));
  } finally {
    await server.stop();
  }
}

async function measureAll(person: Person): Promise<Figure[]> {
  say("each page, first after the start");
  const cold: (Asked & { readonly ms: number })[] = [];
  for (const asked of requestsOf(await person.newestTxnId()))
    cold.push({ ...asked, ms: await person.time(asked.path) });
  say("each page again");
  const figures: Figure[] = [];
  for (const { page, path, ms } of cold) {
    const times = ms > SLOW_MS ? [ms] : [];
    for (let round = 0; round < ROUNDS && ms <= SLOW_MS; round += 1) times.push(await person.time(path));
    const detail = `first after the start: ${Math.round(ms)} ms`;
    const measured = `${page}: ${decodeURIComponent(path)}`;
    figures.push({ measured, value: median(times), unit: "ms", decimals: 0, target: { atMost: MOST_MS }, detail });
  }
  return figures;
}

/** The requests with which each page begins, each filter by itself. */
function requestsOf(txnId: string): Asked[] {
  const requests = (page: string, ...paths: string[]) => paths.map((path) => ({ page, path }));
  const filtered = (page: string, path: string, ...queries: string[]) =>
    requests(page, ...queries.map((query) => (query === "" ? path : `${path}?${query}`)));
  const periods = periodsOf(new Date().toISOString().slice(0, 10));
  const filters = [
    "",
    ...periods,
    "partner=bench",
    `partner=${IDLE_PARTNER}`,
    "service=internet",
    "status=success",
    "status=reversed",
    `cuid=${CUID}`,
    "reqId=user0000099",
    "bouquet=NET-1M",
    "amount=1130",
    "udf1=order-7",
  ];
  const spans = periods.filter((period) => period.includes("&"));
  return [
    ...filtered("overview", "/statistics", "days=1", "days=7", "days=30", "days=90"),
    ...requests("overview", "/attention", "/approvals", "/transactions?limit=10", "/session"),
    ...filtered(
      "customers",
      "/connections",
      ...["", "endsWithin=3", "endsWithin=7", "endsWithin=30", "endedWithin=3", "endedWithin=30", "endedWithin=90"],
      ...[
        "state=blocked",
        "state=no_subscription",
        "segment=WARD-7",
        "segment=none",
        "service=internet",
        "service=iptv",
      ],
      ...[
        "service=internet&state=no_subscription",
        "segment=WARD-7&endsWithin=7",
        "search=sherpa",
        "search=9800000000",
      ],
    ),
    ...requests("customers", "/segments"),
    ...requests("customer", `/customers/${CUID}`, `/customers/${CUID}/ledgers`, `/customers/${CUID}/refused-calls`),
    ...filtered(
      "search",
      "/customers",
      ...["q=9", "q=98", "q=user00", "q=0099", "q=sherpa", "q=sita", "q=sita%20rai", "q=sherpa%20sherpa"].map(
        (query) => `${query}&limit=10`,
      ),
    ),
    ...filtered("transactions", "/transactions", ...filters),
    ...filtered("transactions", "/transactions/totals", "", ...periods, "partner=bench", `cuid=${CUID}`),
    ...requests("transaction", `/transactions/${txnId}`),
    ...filtered(
      "refused calls",
      "/refused-calls",
      "",
      ...periods,
      "partner=bench",
      `partner=${IDLE_PARTNER}`,
      "reason=none",
    ),
    ...requests("bulk", "/bulk", "/bulk/1", "/bulk/1/lines", "/bulk/1/lines?problems=true"),
    ...requests("partners", "/partners"),
    ...requests("partner", "/partners/bench", "/partners/bench/tokens", "/partners/bench/practice"),
    ...requests("partner", "/statistics?partner=bench", "/refused-calls?partner=bench"),
    ...requests("catalogue", "/catalogue", "/catalogue/revisions", "/catalogue/revisions/1"),
    ...requests("imports", "/imports", "/held-back"),
    ...filtered("settlement", "/settlement", ...spans, ...spans.map((span) => `${span}&detail=day`)),
    ...filtered("settlement", "/settlement", ...spans.map((span) => `${span}&detail=day&partner=bench`)),
    ...requests("targets", "/targets", `/targets/${TARGET}/failed`, `/targets/${TARGET}/deliveries`),
    ...filtered("audit", "/audit", "", ...periods, "author=staff-7", "author=nobody", "action=subscription.goodwill"),
    ...filtered("audit", "/audit", "action=customers.import", "action=target.rotate", `cuid=${CUID}`),
    ...requests("staff", "/staff", "/staff-keys"),
    ...requests("health", "/health"),
  ];
}

/** The usual periods, as in the console: today, yesterday, the last week, this month and the last one. */
function periodsOf(today: string): string[] {
  const before = (day: string, days: number) => new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
  const first = `${today.slice(0, 7)}-01`;
  const last = before(first, 1);
  const period = (from: string, to: string) => `from=${from}&to=${to}`;
  return [
    period(today, today),
    period(before(today, 1), before(today, 1)),
    period(before(today, 6), today),
    period(first, today),
    period(`${last.slice(0, 7)}-01`, last),
  ];
}

/** A person at the console, who waits for each answer. */
class Person {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${key}` };
  }

  /** @returns ms until the whole answer. */
  async time(path: string): Promise<number> {
    const begun = performance.now();
    await this.#ask(path);
    return performance.now() - begun;
  }

  async newestTxnId(): Promise<string> {
    const { items } = (await this.#ask("/transactions?limit=1")) as { readonly items: readonly { txnId: string }[] };
    return items[0]?.txnId ?? "";
  }

  async #ask(path: string): Promise<unknown> {
    const response = await fetch(this.#url + path, { headers: this.#headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}
