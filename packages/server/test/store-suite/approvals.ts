import { expect, test } from "vitest";
import type { StaffRole } from "../../src/domain/authority.ts";
import { confirmChange, listApprovals, refuseChange } from "../../src/office/approvals/operations.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { keepBulk } from "../../src/office/bulk/keep.ts";
import { cancelBulk, showBulk, startBulk } from "../../src/office/bulk/operations.ts";
import { previewBulk, previewReversal } from "../../src/office/bulk/preview.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import type { Limits } from "../../src/office/limits.ts";
import type { Actor, Desk } from "../../src/office/office.ts";
import { showTransaction } from "../../src/office/transactions/operations.ts";
import { RightsEnded } from "../../src/store/errors.ts";
import { by } from "../support/by.ts";
import { deskOf, listOf, NO_LIMITS, refusal, run } from "../support/desk.ts";
import { seededRandom } from "../support/random.ts";
import { staffOf } from "../support/staff.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { endOf, FIBER, openProvider, RAM_NET, SITA_NET } from "./provider.ts";

const DAY_MS = 86_400_000;
const [PAID, REVERSED] = ["2027-01-10 09:00:00", "2026-12-10 09:00:00"];

/** A top-up whose reversal needs a second person, and some people. */
export async function openApprovals(makeDatabase: MakeDatabase, more: Partial<Limits> = {}) {
  const opened = await openProvider(makeDatabase);
  const { store } = opened;
  const people = staffOf(store);
  const person = async (name: string, role: StaffRole): Promise<Actor> => {
    const { id: staffId } = await people.add(name, role, by(opened.now));
    return { name, authority: { staffId, role, sessionId: undefined } };
  };
  const [maya, ravi] = [await person("maya", "support"), await person("ravi", "support")];
  const { txnId } = await opened.topUp(SITA_NET, "NET-1M");
  const random = seededRandom(5);
  const limits = { ...NO_LIMITS, secondPersonBulk: 2, secondPersonReversal: 30_000n, ...more };
  const deskFor = (actor: Actor, on = store) =>
    deskOf({ store: on, clock: () => opened.now, random }, actor, { limits });
  const ask = (actor: Actor, more: object = {}, on = store) =>
    run(deskFor(actor, on), reverseTransaction, { id: txnId, reason: "paid twice", ...more });
  /** @returns the id of the request. */
  const request = async (actor: Actor) => (await ask(actor)).approval?.id ?? "";
  const confirm = (actor: Actor, id: string, on = store) => run(deskFor(actor, on), confirmChange, { id });
  const refuse = (actor: Actor, id: string, on = store) =>
    run(deskFor(actor, on), refuseChange, { id, reason: "the customer paid once" });
  const list = async () => (await run(deskFor(maya), listApprovals, {})).items;
  const end = () => endOf(store, SITA_NET, FIBER);
  return { opened, store, people, person, maya, ravi, txnId, deskFor, ask, request, confirm, refuse, list, end };
}

/** A second person confirms what one person may not do alone. */
export function testApprovals(makeDatabase: MakeDatabase): void {
  test("a large reversal waits until a second person confirms it, and the audit trail names both", async () => {
    const { store, maya, ravi, txnId, ask, request, confirm, list, end, deskFor } = await openApprovals(makeDatabase);
    expect(await ask(maya, { preview: true })).toMatchObject({
      ...{ status: "success", approval: null, before: { end: PAID }, after: { end: REVERSED } },
    });
    const id = await request(maya);
    const waiting = {
      ...{ id, kind: "reversal", subject: txnId, topUp: { cuid: "2000001", amount: "1130.00" }, reason: "paid twice" },
      ...{ requestedBy: "maya", state: "waiting", decidedBy: null },
    };
    expect(await list()).toMatchObject([waiting]);
    expect((await ask(ravi)).approval).toMatchObject(waiting);
    expect(await run(deskFor(maya), showTransaction, { id: txnId })).toMatchObject({
      ...{ status: "success", approval: waiting },
    });
    expect(await end()).toBe(PAID);
    expect(await confirm(ravi, id)).toMatchObject({ state: "confirmed", decidedBy: "ravi" });
    expect(await end()).toBe(REVERSED);
    const subject = `${txnId} production 2000001 internet sita`;
    expect(await listEntries(store.engine.db, { subject }, 5)).toMatchObject([
      {
        ...{ action: "transaction.reverse", author: "ravi", reason: "paid twice" },
        after: expect.stringContaining('"requestedBy":"maya"'),
      },
      { action: "approval.request", author: "maya", reason: "paid twice", after: '{"amount":"1130.00"}' },
    ]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("up to the amount, and in the shell, one person reverses alone; that ends a request", async () => {
    const { opened, maya, ravi, ask, request, confirm, list } = await openApprovals(makeDatabase);
    const { txnId: small } = await opened.topUp({ ...SITA_NET, service: "iptv", reqId: "sita-iptv" }, "ITV-1M");
    expect(await ask(maya, { id: small })).toMatchObject({ status: "reversed", approval: null });
    const id = await request(maya);
    await opened.reverse((await list())[0]?.subject ?? "");
    expect(await list()).toMatchObject([{ state: "confirmed", decidedBy: "tester" }]);
    expect(await refusal(confirm(ravi, id))).toMatchObject({
      ...{ code: "conflict", words: "this request was confirmed already, by tester" },
    });
  });

  test("neither the requester nor a key can confirm, nor a person without the rights", async () => {
    const { opened, people, maya, ravi, person, request, confirm, end } = await openApprovals(makeDatabase);
    const authority = await people.addKey("desk", "admin", by(opened.now));
    const key: Actor = { name: "key desk", authority };
    const id = await request(maya);
    const own = { code: "forbidden", words: "you requested it yourself: another person must confirm it" };
    expect(await refusal(confirm(maya, id))).toMatchObject(own);
    const notKeys = { code: "forbidden", words: "only people can confirm, not keys" };
    expect(await refusal(confirm(key, id))).toMatchObject(notKeys);
    await people.change("ravi", ["staff.role", { role: "viewer" }], by(opened.now));
    await expect(confirm(ravi, id)).rejects.toBeInstanceOf(RightsEnded);
    expect(await refusal(confirm(ravi, "unknown"))).toMatchObject({ code: "not_found" });
    expect(await end()).toBe(PAID);
    await confirm(await person("asha", "admin"), id);
    expect(await end()).toBe(REVERSED);
  });

  test("a key can request", async () => {
    const { opened, people, ravi, request, confirm, list, end } = await openApprovals(makeDatabase);
    const authority = await people.addKey("desk", "support", by(opened.now));
    const id = await request({ name: "key desk", authority });
    expect(await list()).toMatchObject([{ requestedBy: "key desk" }]);
    await confirm(ravi, id);
    expect(await end()).toBe(REVERSED);
  });

  test("a request counts only as long as its author has the rights", async () => {
    const { opened, people, maya, ravi, request, confirm, refuse, end } = await openApprovals(makeDatabase);
    const gone = {
      code: "conflict",
      words: "maya may not do this any more: refuse the request, and make it again",
    };
    const id = await request(maya);
    await people.change("maya", ["staff.role", { role: "finance" }], by(opened.now));
    expect(await refusal(confirm(ravi, id))).toMatchObject(gone);
    await people.remove("maya", by(opened.now));
    expect(await refusal(confirm(ravi, id))).toMatchObject(gone);
    opened.now += 1;
    await people.add("maya", "admin", by(opened.now));
    expect(await refusal(confirm(ravi, id))).toMatchObject(gone);
    expect(await refuse(ravi, id)).toMatchObject({ state: "refused", decidedBy: "ravi" });
    expect(await end()).toBe(PAID);
  });

  test("a refused request can be made again, and an old one expires", async () => {
    const { opened, store, maya, ravi, request, confirm, refuse, list, end } = await openApprovals(makeDatabase);
    const first = await request(maya);
    await refuse(ravi, first);
    const [entry] = await listEntries(store.engine.db, {}, 1);
    expect(entry).toMatchObject({
      ...{ action: "approval.refuse", author: "ravi", reason: "the customer paid once" },
      before: '{"requestedBy":"maya"}',
    });
    const refused = { code: "conflict", words: "this request was refused already, by ravi" };
    expect(await refusal(confirm(ravi, first))).toMatchObject(refused);
    expect(await list()).toMatchObject([{ state: "refused", refusal: "the customer paid once" }]);
    const second = await request(maya);
    expect(await refusal(confirm(ravi, first))).toMatchObject({ code: "not_found" });
    opened.now += 7 * DAY_MS + 1;
    expect(await list()).toMatchObject([{ id: second, state: "expired" }]);
    const expired = { code: "conflict", words: "this request is older than 7 days: make it again" };
    expect(await refusal(confirm(ravi, second))).toMatchObject(expired);
    expect(await refusal(refuse(ravi, second))).toMatchObject(expired);
    const third = await request(maya);
    expect(third).not.toBe(second);
    opened.now += 7 * DAY_MS;
    await confirm(ravi, third);
    expect(await end()).toBe(REVERSED);
  });

  test("a large bulk change waits until a second person confirms it, and the audit trail names both", async () => {
    const { opened, store, maya, ravi, deskFor, confirm, list } = await openApprovals(makeDatabase);
    const small = await preview(deskFor(maya), ["2000002"]);
    expect(small).toMatchObject({ state: "checked", count: 2, secondPerson: false });
    expect(await run(deskFor(maya), startBulk, { id: small.id })).toMatchObject({ state: "done" });
    const { id, ...large } = await preview(deskFor(maya), ["2000001"]);
    expect(large).toMatchObject({ state: "checked", count: 3, secondPerson: true });
    expect(await run(deskFor(maya), startBulk, { id })).toMatchObject({ state: "waiting", done: 0 });
    expect(await refusal(run(deskFor(maya), startBulk, { id }))).toMatchObject({ code: "conflict" });
    const [request] = await list();
    expect(request).toMatchObject({
      ...{
        kind: "bulk",
        subject: String(id),
        topUp: null,
        bulk: { action: "block", days: null, count: 3, startsAgain: 0, reverses: null },
      },
      ...{ requestedBy: "maya", reason: "unpaid", state: "waiting" },
    });
    const approval = request?.id ?? "";
    expect(await refusal(confirm(maya, approval))).toMatchObject({ code: "forbidden" });
    expect(await confirm(ravi, approval)).toMatchObject({ state: "confirmed", decidedBy: "ravi" });
    expect(await run(deskFor(maya), showBulk, { id })).toMatchObject({ state: "done", done: 3, problems: 0 });
    expect(await countRows(opened, "connection WHERE blocked = 1 AND cuid = '2000001'")).toBe(3);
    expect((await listEntries(store.engine.db, { cuid: "2000001" }, 1))[0]).toMatchObject({ author: "maya" });
    const steps = (await listEntries(store.engine.db, { subject: String(id) }, 5)).map(({ action, author, after }) => {
      return [action, author, (JSON.parse(after ?? "") as { requestedBy?: string }).requestedBy];
    });
    expect(steps).toEqual([
      ["bulk.start", "ravi", "maya"],
      ["approval.request", "maya", undefined],
    ]);
  });

  test("the second person sees what starts again, and confirms the reversal of goodwill like the goodwill", async () => {
    const { store, maya, ravi, deskFor, confirm, list } = await openApprovals(makeDatabase, { secondPersonBulk: 0 });
    const end = () => endOf(store, RAM_NET, FIBER);
    const goodwill = { action: "goodwill", days: 3, runningAt: "2026-10-20", reason: "outage" } as const;
    const given = await run(deskFor(maya), previewBulk, { ...goodwill, file: listOf(["ram"]) });
    await run(deskFor(maya), startBulk, { id: given.id });
    const bulk = { action: "goodwill", days: 3, count: 1, startsAgain: 1, reverses: null };
    const [request] = await list();
    expect(request).toMatchObject({ subject: String(given.id), bulk });
    await confirm(ravi, request?.id ?? "");
    expect(await end()).toBe("2026-11-23 09:00:00");
    const { id } = await run(deskFor(maya), previewReversal, { id: given.id, reason: "wrong list" });
    expect(await run(deskFor(maya), startBulk, { id })).toMatchObject({ state: "waiting", reverses: given.id });
    const waiting = (await list()).find(({ state }) => state === "waiting");
    const reversal = { action: "reverse_goodwill", days: null, count: 1, startsAgain: 0, reverses: given.id };
    expect(waiting).toMatchObject({ subject: String(id), bulk: reversal });
    expect(await refusal(confirm(maya, waiting?.id ?? ""))).toMatchObject({ code: "forbidden" });
    await confirm(ravi, waiting?.id ?? "");
    expect(await end()).toBe("2026-11-01 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a bulk change that is refused, cancelled or expired does not start", async () => {
    const { opened, maya, ravi, deskFor, confirm, refuse, list } = await openApprovals(makeDatabase);
    const ask = async () => {
      const { id } = await preview(deskFor(maya), ["2000001"]);
      await run(deskFor(maya), startBulk, { id });
      return { id, approval: (await list()).find(({ subject }) => subject === String(id))?.id ?? "" };
    };
    const [refused, cancelled, expired] = [await ask(), await ask(), await ask()];
    await refuse(ravi, refused.approval);
    expect(await run(deskFor(maya), showBulk, { id: refused.id })).toMatchObject({ state: "cancelled" });
    await run(deskFor(maya), cancelBulk, { id: cancelled.id });
    const ended = { code: "conflict", words: "this request was refused already, by maya" };
    expect(await refusal(confirm(ravi, cancelled.approval))).toMatchObject(ended);
    opened.now += 7 * DAY_MS + 1;
    expect(await refusal(confirm(ravi, expired.approval))).toMatchObject({ code: "conflict" });
    const once = new AbortController();
    await keepBulk({ ...deskFor(maya), log() {}, sleep: async () => once.abort() }, once.signal);
    for (const { id } of [refused, cancelled, expired])
      expect(await run(deskFor(maya), showBulk, { id })).toMatchObject({ state: "cancelled", done: 0 });
    expect(await countRows(opened, "connection WHERE blocked = 1 AND cuid = '2000001'")).toBe(0);
  });
}

/** What happens at once. */
export function testApprovalsAtOnce(makeDatabase: MakeDatabase): void {
  test("of parallel requests one is kept, and of parallel decisions, through two stores, one counts", async () => {
    const { opened, store, person, maya, ravi, ask, confirm, refuse, list } = await openApprovals(makeDatabase);
    const [asha, other] = [await person("asha", "admin"), await opened.another()];
    const asked = await Promise.all([ask(maya), ask(ravi, {}, other), ask(maya, {}, other)]);
    const [id = "", another] = [...new Set(asked.map(({ approval }) => approval?.id))];
    expect(another).toBeUndefined();
    const requester = (await list())[0]?.requestedBy;
    const second = requester === "maya" ? ravi : maya;
    const decided = await Promise.allSettled([
      ...[confirm(asha, id), confirm(second, id, other), refuse(asha, id, other), refuse(second, id)],
    ]);
    expect(decided.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of decided)
      if (outcome.status === "rejected")
        expect(await refusal(Promise.reject(outcome.reason))).toMatchObject({
          ...{ code: "conflict", words: expect.stringMatching(/^this request was \w+ already, by \w+$/) },
        });
    const [approval] = await list();
    expect(await countRows(opened, "reversal")).toBe(approval?.state === "confirmed" ? 1 : 0);
    expect(await findWrong(store)).toEqual([]);
  });

  test("of parallel decisions on a bulk change, through two stores, one counts", async () => {
    const { opened, person, maya, ravi, deskFor, confirm, refuse, list } = await openApprovals(makeDatabase);
    const [asha, other] = [await person("asha", "admin"), await opened.another()];
    const { id } = await preview(deskFor(maya), ["2000001"]);
    const started = await Promise.allSettled(
      [opened.store, other].map((store) => run(deskFor(maya, store), startBulk, { id })),
    );
    expect(started.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const approval = (await list())[0]?.id ?? "";
    const decided = await Promise.allSettled([
      ...[confirm(asha, approval), confirm(ravi, approval, other), refuse(asha, approval, other)],
      run(deskFor(maya), cancelBulk, { id }),
    ]);
    const [made, ...others] = decided.filter(({ status }) => status === "fulfilled");
    expect(made).toBeDefined();
    // A cancellation can follow a confirmation.
    expect(others.length).toBeLessThanOrEqual(1);
    for (const outcome of decided)
      if (outcome.status === "rejected")
        expect(await refusal(Promise.reject(outcome.reason))).toMatchObject({ code: "conflict" });
  });
}

export async function preview(desk: Desk, lines: readonly string[]) {
  const { id } = await run(desk, previewBulk, { action: "block", reason: "unpaid", file: listOf(lines) });
  return run(desk, showBulk, { id });
}
