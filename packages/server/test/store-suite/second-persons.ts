import { expect, test } from "vitest";
import type { Attribution } from "../../src/domain/audit.ts";
import type { StaffRole } from "../../src/domain/authority.ts";
import { changeAccount, enterIntoAccount, showAccount } from "../../src/office/accounts/operations.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { continueBulk, pauseBulk, showBulk, startBulk } from "../../src/office/bulk/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import type { Actor } from "../../src/office/office.ts";
import { addPartner } from "../../src/office/partners/operations.ts";
import { NO_TOTP } from "../../src/office/staff/sql.ts";
import { deskOf, NO_LIMITS, refusal, run } from "../support/desk.ts";
import { openApprovals, preview } from "./approvals.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { SITA_NET } from "./provider.ts";

const DAY_MS = 86_400_000;

type Opened = Awaited<ReturnType<typeof openApprovals>>;

const byActor = ({ opened }: Opened, { name: author, authority }: Actor): Attribution => {
  return { author, authority, at: opened.now };
};

/** An API key that an account made. */
async function keyOf(scene: Opened, maker: Actor, role: StaffRole = "admin"): Promise<Actor> {
  const name = `of ${maker.name}`;
  return { name: `key ${name}`, authority: await scene.people.addKey(name, role, byActor(scene, maker)) };
}

/** What a person does in a day needs a second person, who must be another one. */
export function testSecondPersons(makeDatabase: MakeDatabase): void {
  test("bulk changes of a day count together, with those that wait and those by a key of the person", async () => {
    const scene = await openApprovals(makeDatabase, { secondPersonBulk: 4 });
    const { opened, person, ravi, deskFor, list, confirm } = scene;
    const asha = await person("asha", "admin");
    const start = async (actor: Actor, line: string) => {
      const { id, secondPerson } = await preview(deskFor(actor), [line]);
      const { state } = await run(deskFor(actor), startBulk, { id });
      expect(state === "waiting").toBe(secondPerson);
      return state;
    };
    expect(await start(asha, "2000001")).toBe("done");
    expect(await start(asha, "2000002")).toBe("waiting");
    const key = await keyOf(scene, asha);
    expect(await start(key, "2000002 tv 007700000000002")).toBe("waiting");
    const requests = await list();
    expect(requests.map(({ requestedBy }) => requestedBy).sort()).toEqual(["asha", "key of asha"]);
    expect(await start(ravi, "2000003")).toBe("done");
    for (const { id } of requests) await confirm(ravi, id);
    opened.now += DAY_MS;
    expect(await start(asha, "2000004")).toBe("done");
    expect(await countRows(opened, "staff_day WHERE author = 'asha'")).toBe(2);
  });

  test("reversals of a day count together", async () => {
    const { opened, maya, ravi, deskFor, confirm } = await openApprovals(makeDatabase, {
      secondPersonReversal: 70_000n,
    });
    const iptv = { ...SITA_NET, service: "iptv", reqId: "sita-iptv" } as const;
    const reverse = async (actor: Actor) => {
      const { txnId: id } = await opened.topUp(iptv, "ITV-1M");
      return (await run(deskFor(actor), reverseTransaction, { id, reason: "paid twice" })).approval;
    };
    expect([await reverse(maya), await reverse(maya)]).toEqual([null, null]);
    const third = await reverse(maya);
    expect(third).toMatchObject({ requestedBy: "maya", own: true, mayDecide: true });
    expect(await reverse(ravi)).toBeNull();
    expect(await confirm(ravi, third?.id ?? "")).toMatchObject({ state: "confirmed", own: false });
    expect(await reverse(ravi)).toBeNull();
  });

  test("an admin, its key and accounts that it made or changed within seven days are one person", async () => {
    const scene = await openApprovals(makeDatabase);
    const { opened, people, person, maya, ravi, request, confirm, refuse, list, end } = scene;
    const asha = await person("asha", "admin");
    const key = await keyOf(scene, asha);
    const one = async (requester: Actor, second: Actor) => {
      const id = await request(requester);
      expect(await refusal(confirm(second, id)), `${second.name} for ${requester.name}`).toMatchObject({
        ...{ code: "forbidden", words: expect.stringContaining("and you count as one person") },
      });
      await refuse(ravi, id);
    };
    await one(key, asha);
    const { id: staffId } = await people.add("hari", "admin", byActor(scene, asha));
    const hari = { name: "hari", authority: { staffId, role: "admin", sessionId: undefined } } as const;
    for (const [requester, second] of [
      [asha, hari],
      [hari, asha],
      [key, hari],
    ] as const)
      await one(requester, second);
    opened.now += 7 * DAY_MS + 1;
    await confirm(hari, await request(asha));
    expect((await list())[0]).toMatchObject({ state: "confirmed", decidedBy: "hari" });
    expect(await end()).toBe("2026-12-10 09:00:00");
    const changes = [
      ["staff.role", { role: "support" }],
      ["staff.password", { password: "hash", mustChangePassword: false }],
      ["staff.totp_off", NO_TOTP],
    ] as const;
    const { txnId } = await opened.topUp(SITA_NET, "NET-1M");
    for (const change of changes) {
      await people.change("maya", change, byActor(scene, asha));
      const desk = scene.deskFor(asha);
      const asked = (await run(desk, reverseTransaction, { id: txnId, reason: "paid twice" })).approval;
      expect(await refusal(confirm(maya, asked?.id ?? ""))).toMatchObject({ code: "forbidden" });
      await refuse(ravi, asked?.id ?? "");
      opened.now += 7 * DAY_MS + 1;
    }
  });

  test("whoever continues a run pays for what is left of it", async () => {
    const { opened, store, person, maya, deskFor } = await openApprovals(makeDatabase, { secondPersonBulk: 1_000 });
    const asha = await person("asha", "admin");
    const { id } = await preview(deskFor(asha), ["2000001"]);
    const idle = async () => {};
    await run({ ...deskFor(asha), goOn: idle }, startBulk, { id });
    const pausing = { ...deskFor(asha), goOn: idle };
    await run(pausing, pauseBulk, { id });
    const limits = { ...NO_LIMITS, supportBulk: 2 };
    const support = deskOf({ store, clock: () => opened.now }, maya, { limits });
    expect(await refusal(run(support, continueBulk, { id }))).toMatchObject({
      ...{
        code: "forbidden",
        words: "connections in bulk changes: 3 needed, 2 of your 2 left today. Ask an admin to do it",
      },
    });
    const wider = { ...support, limits: { ...limits, supportBulk: 3 }, goOn: idle };
    for (let times = 0; times < 2; times += 1) {
      await run(wider, continueBulk, { id });
      await run(pausing, pauseBulk, { id });
    }
    expect(await countRows(opened, "staff_day WHERE bulk_connections = 3")).toBe(2);
    await run(deskFor(asha), continueBulk, { id });
    expect(await run(deskFor(asha), showBulk, { id })).toMatchObject({ state: "done", done: 3 });
  });

  test("an author with a lower role pays for the rest of the own run", async () => {
    const { opened, store, person, deskFor } = await openApprovals(makeDatabase, { secondPersonBulk: 1_000 });
    const asha = await person("asha", "admin");
    const { id } = await preview(deskFor(asha), ["2000001"]);
    await run({ ...deskFor(asha), goOn: async () => {} }, startBulk, { id });
    await run(deskFor(asha), pauseBulk, { id });
    await store.engine.db.updateTable("staff").set({ role: "support" }).where("name", "=", "asha").execute();
    const lower = { ...asha, authority: { ...asha.authority, role: "support" } } as Actor;
    const limits = { ...NO_LIMITS, supportBulk: 2 };
    const support = deskOf({ store, clock: () => opened.now }, lower, { limits });
    expect(await refusal(run(support, continueBulk, { id }))).toMatchObject({ code: "forbidden" });
  });

  async function openMoney() {
    const scene = await openApprovals(makeDatabase, { secondPersonMoney: 100_000n });
    const { opened, person, deskFor } = scene;
    const [fatima, gopal] = [await person("fatima", "finance"), await person("gopal", "finance")];
    await run(opened.desk(), addPartner, { name: "Blue Wallet" });
    const of = { name: "Blue Wallet" };
    const enter = (actor: Actor, amount: string, reference: string, more: object = {}) =>
      run(deskFor(actor), enterIntoAccount, { ...of, kind: "deposit", amount, reference, ...more });
    const balance = async () => (await run(opened.desk(), showAccount, of)).balance;
    return { ...scene, fatima, gopal, of, enter, balance };
  }

  test("entries above an amount in a day wait for a second person, and the audit trail names both", async () => {
    const { store, maya, fatima, gopal, enter, balance, list, confirm } = await openMoney();
    expect(await enter(fatima, "600", "bank 1")).toMatchObject({ secondPerson: false, after: "600.00" });
    const asked = { secondPerson: true, at: null, before: "600.00", after: "1100.00" };
    expect(await enter(fatima, "500", "bank 2", { preview: true })).toMatchObject(asked);
    expect(await list()).toEqual([]);
    for (let times = 0; times < 2; times += 1)
      expect(await enter(fatima, "500", "bank 2", { reason: "by cheque" })).toMatchObject(asked);
    expect(await balance()).toBe("600.00");
    const [request, ...others] = await list();
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      ...{ kind: "account_entry", requestedBy: "fatima", reason: "by cheque", state: "waiting" },
      account: { partner: "Blue Wallet", entry: "deposit", amount: "500.00", reference: "bank 2" },
    });
    const id = request?.id ?? "";
    expect(await refusal(confirm(maya, id))).toMatchObject({ code: "forbidden" });
    expect(await refusal(confirm(fatima, id))).toMatchObject({ code: "forbidden" });
    expect(await refusal(enter(gopal, "501", "bank 2", {}))).toMatchObject({ code: "conflict" });
    await confirm(gopal, id);
    expect(await balance()).toBe("1100.00");
    expect(await enter(fatima, "500", "bank 2")).toMatchObject({ secondPerson: false, author: "gopal" });
    expect(await listEntries(store.engine.db, { subject: "Blue Wallet" }, 2)).toMatchObject([
      {
        ...{ action: "partner.deposit", author: "gopal", reason: "by cheque" },
        after: expect.stringContaining('"requestedBy":"fatima"'),
      },
      {
        ...{ action: "approval.request", author: "fatima" },
        after: '{"kind":"deposit","environment":"production","amount":"500.00","reference":"bank 2"}',
      },
    ]);
    expect(await enter(gopal, "-1000", "C-1", { kind: "adjustment" })).toMatchObject({ secondPerson: false });
    expect(await enter(gopal, "0.01", "V-1", { kind: "withdrawal" })).toMatchObject({ secondPerson: true });
  });

  test("the shell makes an entry that waits, and ends its request", async () => {
    const { opened, fatima, gopal, of, enter, balance, list, confirm } = await openMoney();
    await enter(fatima, "1000.01", "bank 1");
    const entry = { ...of, kind: "deposit", amount: "1000.01", reference: "bank 1" } as const;
    expect(await run(opened.desk(), enterIntoAccount, entry)).toMatchObject({ secondPerson: false });
    const [request] = await list();
    expect(request).toMatchObject({ state: "confirmed", decidedBy: "tester" });
    expect(await refusal(confirm(gopal, request?.id ?? ""))).toMatchObject({ code: "conflict" });
    expect(await balance()).toBe("1000.01");
  });

  test("raises of credit limits above the amount wait for a second person; the alert does not", async () => {
    const { store, person, gopal, of, deskFor, list, confirm } = await openMoney();
    const [asha, hari] = [await person("asha", "admin"), await person("hari", "admin")];
    const set = (actor: Actor, changes: object) => run(deskFor(actor), changeAccount, { ...of, ...changes });
    expect(await set(asha, { creditLimit: "0" })).toMatchObject({ creditLimit: "0.00", secondPerson: false });
    expect(await set(asha, { creditLimit: "600" })).toMatchObject({ creditLimit: "600.00", secondPerson: false });
    // Each raise is below the amount, but not both together.
    const raised = { creditLimit: "1000.01", alertBelow: "7" };
    expect(await set(asha, raised)).toMatchObject({ creditLimit: "600.00", alertBelow: "7.00", secondPerson: true });
    expect(await refusal(set(asha, { creditLimit: "none" }))).toMatchObject({ code: "conflict" });
    const [request] = await list();
    expect(request).toMatchObject({
      ...{ kind: "credit_limit", account: { partner: "Blue Wallet", entry: null, amount: "1000.01", reference: null } },
    });
    expect(await refusal(confirm(gopal, request?.id ?? ""))).toMatchObject({ code: "forbidden" });
    await confirm(hari, request?.id ?? "");
    expect(await set(asha, {})).toMatchObject({ creditLimit: "1000.01", alertBelow: "7.00" });
    expect((await listEntries(store.engine.db, { subject: "Blue Wallet" }, 1))[0]).toMatchObject({
      ...{ action: "partner.account", author: "hari", after: expect.stringContaining('"requestedBy":"asha"') },
    });
    expect(await set(hari, { creditLimit: "none" })).toMatchObject({ creditLimit: "1000.01", secondPerson: true });
  });
}

/** What happens at once. */
export function testSecondPersonsAtOnce(makeDatabase: MakeDatabase): void {
  test("parallel lists of one person and its key, through two stores, do not exceed the limit", async () => {
    const scene = await openApprovals(makeDatabase, { secondPersonBulk: 4 });
    const { opened, store, person, deskFor } = scene;
    const asha = await person("asha", "admin");
    const actors = [asha, await keyOf(scene, asha), asha];
    const stores = [store, await opened.another()];
    const ids: number[] = [];
    for (const actor of actors) ids.push((await preview(deskFor(actor), ["2000001"])).id);
    const started = await Promise.all(
      actors.map((actor, index) => run(deskFor(actor, stores[index % 2]), startBulk, { id: ids[index] ?? 0 })),
    );
    expect(started.map(({ state }) => state).sort()).toEqual(["done", "waiting", "waiting"]);
  });
}
