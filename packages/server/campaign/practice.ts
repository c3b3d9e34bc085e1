import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_BASE_PLANS } from "../src/domain/catalogue.ts";
import { FAULTS, PRACTICE_CUID, TOP_UP_OPERATION } from "../src/domain/practice.ts";
import type { FaultResult, ListedOutcome } from "../src/domain/practice-report.ts";
import { resetTrial } from "../src/faces/cli/demo/trial.ts";
import type { Desk } from "../src/office/office.ts";
import { addPartner } from "../src/office/partners/operations.ts";
import { issueToken } from "../src/office/partners/tokens.ts";
import { certifyPractice } from "../src/office/practice/operations.ts";
import { reportSettlement } from "../src/office/settlement/operations.ts";
import type { Caller } from "../src/partner/ports.ts";
import { queryTransaction } from "../src/partner/top-ups.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { deskOf, run } from "../test/support/desk.ts";
import { isReady } from "./fleet.ts";
import { type Ground, type Served, signalProcess, startServing } from "./processes.ts";
import { Choices } from "./random.ts";

export interface PracticeOptions extends Ground {
  readonly seed: number;
  /** Number of sequences. */
  readonly rounds: number;
}

const WORKERS = 2;
const PARTNERS_AT_ONCE = 6;
/** Less than a late answer takes. */
const TIMEOUT_MS = 400;
const TRIES = 500;
const PAUSE_MS = 20;
const FIRST_KILL_MS = 300;
/** A killed worker loses the notes of a second. */
const SHORTEST_PEACE_MS = 500;
const LONGEST_PEACE_MS = 3_000;
const WORLD = { clock: Date.now, random: randomBytes };

interface Practising {
  readonly name: string;
  readonly token: string;
  readonly caller: Caller;
  /** Number of calls with a checkoutId. */
  sent: number;
  readonly checkoutIds: Set<string>;
}

/**
 * Partners practise with random calls, while workers and the settler are killed. Then each report must agree with the
 * ledger, with txn-status and with the settlement, and complain about a list if and only if the list is wrong.
 * @throws Error that names the partner and the fault with a violation.
 */
export async function practice({ seed, rounds, ...ground }: PracticeOptions): Promise<string> {
  const choices = new Choices(seed);
  const partners = await withDesk(ground, (desk) => makePartners(desk, Math.ceil(rounds / FAULTS.length)));
  const served = await startServing(ground, WORKERS, ["--shutdown-seconds", "1"]);
  const isOver = { now: false };
  const killing = killNowAndThen(served, new Choices(choices.seed()), isOver);
  try {
    const waiting = partners.map((partner) => ({ partner, choices: new Choices(choices.seed()) }));
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        for (const { name } of FAULTS) await playSequence(served.url, next.partner, name, next.choices);
    };
    await Promise.all(Array.from({ length: PARTNERS_AT_ONCE }, work));
  } finally {
    isOver.now = true;
    await killing;
    await served.end("SIGTERM");
  }
  const results = await withDesk(ground, async (desk) => {
    const all: FaultResult["verdict"][] = [];
    for (const partner of partners) all.push(...(await verify(desk, partner)));
    return all;
  });
  const count = (verdict: string) => results.filter((each) => each === verdict).length;
  const verdicts = `${count("passed")} passed, ${count("failed")} failed, ${count("open")} open`;
  return `${partners.length * FAULTS.length} sequences, ${await killing} kills: the reports agree with the ledger (${verdicts})`;
}

async function withDesk<Result>({ cwd, database }: Ground, work: (desk: Desk) => Promise<Result>): Promise<Result> {
  const wishes = { ...WORLD, timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS };
  const store =
    database === undefined
      ? await openSqliteStore({ ...wishes, path: join(cwd, "topupd.db") })
      : await openPostgresStore({ ...wishes, url: database, connections: 2 });
  try {
    return await work(deskOf({ ...WORLD, store }, { name: "campaign" }));
  } finally {
    await store.close();
  }
}

async function makePartners(desk: Desk, count: number): Promise<Practising[]> {
  await resetTrial(desk, desk.actor);
  const partners: Practising[] = [];
  for (let index = 0; index < count; index += 1) {
    const name = `partner-${index}`;
    const { id: partnerId } = await run(desk, addPartner, { name });
    const { id: tokenId, token } = await run(desk, issueToken, { partner: name, environment: "trial" });
    const caller: Caller = { partnerId, partnerName: name, environment: "trial", tokenId };
    partners.push({ name, token, caller, sent: 0, checkoutIds: new Set() });
  }
  return partners;
}

/** Kills one process of the service from time to time; the service starts it again. @returns the number of kills. */
async function killNowAndThen(served: Served, choices: Choices, isOver: { readonly now: boolean }): Promise<number> {
  let kills = 0;
  for (let waitMs = FIRST_KILL_MS; ; waitMs = SHORTEST_PEACE_MS + choices.below(LONGEST_PEACE_MS)) {
    await sleep(waitMs);
    if (isOver.now) return kills;
    const children = (await isReady(served.url)) ? served.children() : [];
    if (children.length > 0) kills += signalProcess(choices.of(children), "SIGKILL");
  }
}

/** Calls of one fault, without sense: repeats, changes, questions and new checkoutIds. */
async function playSequence(url: string, partner: Practising, fault: string, choices: Choices): Promise<void> {
  let purchase = await quote(url, partner, fault);
  for (let calls = 1 + choices.below(6); calls > 0; calls -= 1) {
    const kind = choices.below(10);
    if (kind === 0) purchase = await quote(url, partner, fault);
    if (kind <= 5) await send(url, partner, TOP_UP_OPERATION, purchase);
    else if (kind === 6) await send(url, partner, TOP_UP_OPERATION, { ...purchase, amt: "1" });
    else await send(url, partner, "txn-status", { checkoutId: purchase.checkoutId });
    if (kind === 9) await sleep(choices.below(100));
  }
}

async function quote(url: string, partner: Practising, reqId: string) {
  const connection = { cuid: PRACTICE_CUID, service: "internet", reqId } as const;
  for (let tries = 1; ; tries += 1) {
    const listed = (await call(url, partner, "get-subscription-package", connection)) as Listed | undefined;
    if (listed?.success === true) {
      const { checkoutId, internet } = listed.body;
      partner.checkoutIds.add(checkoutId);
      const [{ code: bouquetId, price }] = internet.bouquets;
      return { ...connection, checkoutId, bouquetId, amt: String(price) };
    }
    if (tries >= TRIES) throw new Error(`${partner.name}: ${reqId} cannot be listed: ${JSON.stringify(listed)}`);
    await sleep(PAUSE_MS);
  }
}

interface Listed {
  readonly success: boolean;
  readonly body: {
    readonly checkoutId: string;
    readonly internet: { readonly bouquets: [{ code: string; price: number }] };
  };
}

async function send(url: string, partner: Practising, operation: string, body: object): Promise<void> {
  partner.sent += 1;
  await call(url, partner, operation, body);
}

/** @returns undefined if no answer could be read. */
function call(url: string, { token }: Practising, operation: string, body: object): Promise<unknown> {
  return fetch(`${url}/staging/api/third-party/v1.0.1/${operation}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  }).then(
    (answer) => answer.json().catch(() => undefined),
    () => undefined,
  );
}

/** Compares a report with the other books. @returns the verdicts. */
async function verify(desk: Desk, partner: Practising): Promise<FaultResult["verdict"][]> {
  const { name, caller, sent, checkoutIds } = partner;
  const right = new Map<string, ListedOutcome>();
  const statuses = new Map<string, string>();
  for (const checkoutId of checkoutIds) {
    const answer = await queryTransaction(desk, caller, { checkoutId });
    const status = answer.ok ? answer.value.status : answer.refusal;
    statuses.set(checkoutId, status);
    right.set(checkoutId, status === "success" ? "paid" : status === "reversed" ? "refunded" : "open");
  }
  const wrong = new Map([...right].map(([id, outcome]) => [id, outcome === "paid" ? "refunded" : "paid"] as const));
  const report = await reportOn(desk, name, right);
  const ofWrong = await reportOn(desk, name, wrong);
  const fail = (what: string) => {
    throw new Error(`${name}: ${what}`);
  };
  if (report.calls > sent) fail(`${report.calls} calls are noted, and ${sent} were sent`);
  for (const [index, { fault, verdict, checkoutId, recorded, broken }] of report.faults.entries()) {
    if (checkoutId === null) continue;
    const status = statuses.get(checkoutId) ?? fail(`${fault} has another's checkoutId`);
    const ledger = (await desk.store.findTransaction(checkoutId))?.status ?? "no";
    const asked = status === "success" || status === "reversed" ? status : "no";
    if (recorded !== ledger || recorded !== asked)
      fail(`${fault}: the report says ${recorded}, the ledger ${ledger}, txn-status ${status}`);
    const complains = (rules: typeof broken) => rules.some(({ rule }) => rule === "wrong_books");
    if (complains(broken)) fail(`${fault}: a right list is called wrong, with the verdict ${verdict}`);
    if (!complains(ofWrong.faults[index]?.broken ?? [])) fail(`${fault}: a wrong list is not noticed`);
  }
  const topUps = [...statuses.values()].filter((status) => status === "success" || status === "reversed").length;
  const { total } = await settled(desk, name);
  if (report.topUps !== topUps || total.topUps !== topUps)
    fail(`the report has ${report.topUps} top-ups, the settlement ${total.topUps}, txn-status ${topUps}`);
  return report.faults.map(({ verdict }) => verdict);
}

function reportOn(desk: Desk, name: string, list: ReadonlyMap<string, ListedOutcome>) {
  const lines = [...list].map(([checkoutId, outcome]) => `${checkoutId},${outcome}\n`).join("");
  const open = async function* () {
    yield Buffer.from(`checkoutId,outcome\n${lines}`);
  };
  return run(desk, certifyPractice, { partner: name, list: { name: "list.csv", isCsv: true, open } });
}

function settled(desk: Desk, partner: string) {
  const day = (at: number) => desk.store.provider.zone.wallTime(at).slice(0, 10);
  const [from, to] = [day(Date.now() - 86_400_000), day(Date.now())];
  return run(desk, reportSettlement, { partner, from, to, environment: "trial" });
}
