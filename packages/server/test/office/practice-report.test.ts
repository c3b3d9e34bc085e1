import { describe, expect, test } from "vitest";
import { createClient } from "../../../client/src/index.ts";
import { FAULTS } from "../../src/domain/practice.ts";
import { listAudit } from "../../src/office/audit/operations.ts";
import { listPartners } from "../../src/office/partners/operations.ts";
import { issueToken } from "../../src/office/partners/tokens.ts";
import { showPractice } from "../../src/office/practice/operations.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { CORRECT, FAULT_NAMES, MISTAKES, Notes, PracticePartner, type Program } from "../support/practice-programs.ts";
import { startTestService } from "../support/service.ts";

const HOUR = 3_600_000;
const TIMEOUT_MS = 30_000;

async function start(options: Parameters<typeof startTestService>[0] = {}) {
  const calls = new Notes();
  // Calls take no time, so that a slow machine changes no report.
  const stopwatch = () => 0;
  const service = await startTestService({ trialCalls: calls, lateMs: 300, stopwatch, ...options });
  const url = await service.app.listen({ host: "127.0.0.1", port: 0 });
  const desk = deskOf(service.ports);
  const partnerNamed = (name: string) => PracticePartner.at(service, url, name);
  return { service, desk, partnerNamed, storeCalls: ({ sent }: PracticePartner) => calls.store(service, sent) };
}

/** The client that partners get. A call ends in real time, but its waits take none. */
const client: Program = async (partner, purchase) => {
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (ms !== TIMEOUT_MS) resolve(partner.wait(ms));
      // Only calls of this fault may be given up, however slow the machine is.
      else if (purchase.reqId === "slow") setTimeout(() => !signal?.aborted && resolve(partner.wait(ms)), 200);
    });
  const clock = { now: () => partner.now, sleep };
  const { outcome } = await createClient({ ...partner.access, timeoutMs: TIMEOUT_MS, clock }).topUp(purchase);
  return [outcome === "topped_up" ? "paid" : outcome === "undecided" ? "open" : "refunded"];
};

describe.each(["SQLite", "PostgreSQL"])("on %s", (engine) => {
  const openStore = () => (engine === "SQLite" ? {} : { openStore: makePostgresDatabase().open });

  test("our client passes every fault, and its partner is certified once", async () => {
    const { service, desk, partnerNamed, storeCalls } = await start(openStore());
    const partner = await partnerNamed("Bank");
    for (const fault of FAULT_NAMES) await partner.handle(client, fault);
    await storeCalls(partner);
    const withoutList = await partner.report(false);
    expect(withoutList).toMatchObject({ passed: false, hasList: false, certificate: null });
    const report = await partner.report();
    const failed = report.faults.filter(({ verdict }) => verdict !== "passed");
    expect(failed).toEqual([]);
    expect(report).toMatchObject({ passed: true, topUps: 10, versions: ["v1.0.1"] });
    const certifiedAt = new Date(service.now).toISOString();
    const { certificate } = report;
    const faults = report.faults.map(({ fault, checkoutId }) => ({ fault, checkoutId }));
    expect(certificate).toEqual({ certifiedAt, versions: ["v1.0.1"], faults });
    service.now += 24 * HOUR;
    expect(await partner.report()).toMatchObject({ passed: true, certificate });
    // Later failures do not change the certificate.
    partner.list.clear();
    for (const fault of FAULT_NAMES) await partner.topUp(await partner.quote(fault));
    await storeCalls(partner);
    const later = await partner.report();
    expect(later.passed).toBe(false);
    expect(later.faults.map(({ checkoutId }) => checkoutId)).not.toContain(faults[0]?.checkoutId);
    expect(later.certificate).toEqual(certificate);
    expect((await run(desk, showPractice, { partner: "Bank" })).certificate).toEqual(certificate);
    expect((await run(desk, listPartners, {})).items).toMatchObject([
      { certifiedAt: null },
      { name: "Bank", certifiedAt },
    ]);
    const { items } = await run(desk, listAudit, { action: "partner.certify" });
    expect(items).toMatchObject([{ subject: "Bank", after: { certifiedAt } }]);
    const issue = (name: string) => run(desk, issueToken, { partner: name });
    expect([await issue("Bank"), await issue("wallet")]).toMatchObject([{ isCertified: true }, { isCertified: false }]);
  });

  test("a partner sees only its own calls, and one that called nothing has tried nothing", async () => {
    const { desk, partnerNamed, storeCalls } = await start(openStore());
    const partner = await partnerNamed("Bank");
    await partner.handle(CORRECT, "lost-after");
    await storeCalls(partner);
    const verdicts = async (name: string) =>
      (await run(desk, showPractice, { partner: name })).faults.filter(({ verdict }) => verdict !== "not_tried");
    expect(await verdicts("Bank")).toMatchObject([{ fault: "lost-after", verdict: "passed", recorded: "success" }]);
    expect(await verdicts("wallet")).toEqual([]);
    expect(await refusal(run(desk, showPractice, { partner: "Nobody" }))).toMatchObject({ code: "not_found" });
  });
});

test("a hundred top-ups by one partner do not stop another's certificate", async () => {
  const { partnerNamed, storeCalls } = await start({ lateMs: 20 });
  const [busy, partner] = [await partnerNamed("Busy"), await partnerNamed("Bank")];
  const recording = FAULTS.filter(({ failing, refusal }) => failing?.records ?? refusal === undefined);
  for (let round = 0; round < 15; round += 1)
    for (const { name } of recording) await busy.topUp(await busy.quote(name, "TRIAL-NET-12M"));
  await storeCalls(busy);
  expect((await busy.report()).topUps).toBe(105);
  for (const fault of FAULT_NAMES) await partner.handle(client, fault);
  await storeCalls(partner);
  expect((await partner.report()).certificate).not.toBe(null);
});

describe("the report names the broken rule of a program, and no other", () => {
  test.each(Object.entries(MISTAKES))("%s", async (name, [rule, program]) => {
    const { partnerNamed, storeCalls } = await start({ lateMs: 20 });
    const partner = await partnerNamed(name);
    for (const fault of FAULT_NAMES) await partner.handle(program, fault);
    if (rule === "given_up") partner.wait(HOUR);
    await storeCalls(partner);
    const { faults, certificate } = await partner.report();
    expect(certificate).toBe(null);
    const broken = faults.flatMap(({ broken: each }) => each.map((one) => one.rule));
    expect([...new Set(broken)]).toEqual([rule]);
    for (const { calls } of faults.flatMap(({ broken: each }) => each)) expect(calls).not.toEqual([]);
  });
});
