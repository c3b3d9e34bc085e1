import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { enterIntoAccount } from "../../src/office/accounts/operations.ts";
import { readBalance } from "../../src/store/accounts.ts";
import { by } from "../support/by.ts";
import { refusal, run } from "../support/desk.ts";
import { partnersOf, setAccount } from "../support/partners.ts";
import { deposit, openAccountDesk } from "./account-desk.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { RAM_NET, RAM_TV, SITA_NET, SITA_TV } from "./provider.ts";

const NET = 113_000n;

/** Accounts of partners as staff keep them. */
export function testAccountOperations(makeDatabase: MakeDatabase): void {
  test("a wrong amount, name or reference is refused", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const amounts = ["0", "0.00", "-1", "1e3", "1.005", " 1", "", "1,00", "1000000000000000"];
    for (const amount of amounts)
      expect(await refusal(opened.enter(deposit(amount, "x")))).toMatchObject({ problems: [{ field: "amount" }] });
    for (const creditLimit of ["-1", "nothing", ""])
      expect(await refusal(opened.account({ creditLimit }))).toMatchObject({ problems: [{ field: "creditLimit" }] });
    const nobody = run(opened.desk(), enterIntoAccount, { name: "Wallet", ...deposit("1", "x") });
    expect(await refusal(nobody)).toMatchObject({ code: "not_found" });
    expect(await countRows(opened, "account_entry")).toBe(0);
    await opened.enter(deposit("99,99,99,99,99,999.99", "large"));
    expect(await refusal(opened.enter(deposit("0.01", "x")))).toMatchObject({ code: "conflict" });
    for (const amount of ["-9999999999999.99", "-0.01"])
      await opened.enter(deposit(amount, amount, { kind: "adjustment" }));
    expect(await opened.show()).toMatchObject({ balance: "-0.01", creditLimit: null, available: null });
  });

  test("a withdrawal of all that is available is made, and of one unit more refused", async () => {
    const opened = await openAccountDesk(makeDatabase);
    await opened.enter(deposit("100", "bank 1"));
    await opened.account({ creditLimit: "50" });
    const withdraw = (amount: string) => opened.enter({ kind: "withdrawal", amount, reference: "V-1" });
    const words = "only 150.00 is available: withdraw less, or raise the credit limit";
    expect(await refusal(withdraw("150.01"))).toMatchObject({ code: "conflict", words });
    expect(await withdraw("150")).toMatchObject({ before: "100.00", after: "-50.00" });
    expect(await opened.show()).toMatchObject({ balance: "-50.00", available: "0.00" });
  });

  test("an entry changes the balance of its own environment and partner alone", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const { store, partner } = opened;
    const bank = await partnersOf(store).add("bank", by(opened.now));
    const keys = [partner.id, bank.id].flatMap((partnerId) =>
      (["production", "trial"] as const).map((environment) => ({ partnerId, environment })),
    );
    for (const key of keys) await setAccount(store, key, { creditLimit: 0n });
    await opened.enter(deposit("1130", "bank 1"));
    const balances = () => Promise.all(keys.map((key) => readBalance(store.engine.db, key)));
    expect(await balances()).toEqual([NET, 0n, 0n, 0n]);
    const [outcome, checkoutId] = await opened.buy();
    expect(outcome).toBe("recorded");
    expect(await balances()).toEqual([0n, 0n, 0n, 0n]);
    await opened.reverse(checkoutId);
    expect(await balances()).toEqual([NET, 0n, 0n, 0n]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a limit a day counts from the provider's midnight, in both environments, until it ends", async () => {
    const opened = await openAccountDesk(makeDatabase, { timeZone: "Asia/Kathmandu" });
    await opened.buy();
    expect(await opened.limit({ dayTopUps: "2", dayAmount: "3000" })).toMatchObject({
      ...{ topUpAmount: null, dayAmount: "3000.00", dayTopUps: 2 },
    });
    expect(await countRows(opened, "account WHERE balance IS NOT NULL")).toBe(2);
    expect((await opened.buy())[0]).toBe("recorded");
    expect((await opened.buy(SITA_TV, "TV-1M"))[0]).toBe("limit_reached");
    opened.now = Date.parse("2026-11-20T18:14:59.999Z");
    expect((await opened.buy())[0]).toBe("limit_reached");
    opened.now += 1;
    expect((await opened.buy())[0]).toBe("recorded");
    expect((await opened.buy(SITA_NET, "NET-3M"))[0]).toBe("limit_reached");
    await opened.account({ creditLimit: "5000" });
    await opened.limit({ dayTopUps: "none", dayAmount: "none", topUpAmount: "1130" });
    expect(await countRows(opened, "account WHERE balance IS NOT NULL")).toBe(1);
    expect((await opened.buy(SITA_NET, "NET-3M"))[0]).toBe("limit_reached");
    expect((await opened.buy())[0]).toBe("recorded");
    await opened.account({ creditLimit: "none" });
    expect(await countRows(opened, "account WHERE balance IS NOT NULL")).toBe(0);
    expect(await opened.show()).toMatchObject({ balance: "-4520.00", creditLimit: null });
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test.each([
    ["three days ahead", 3 * DAY_MS],
    ["a day ahead", DAY_MS],
    ["two days behind", -2 * DAY_MS],
  ])("a limit a day is not doubled by a clock that was %s", async (_, ms) => {
    const opened = await openAccountDesk(makeDatabase);
    await opened.limit({ dayTopUps: "2" });
    const buyAll = async () => [(await opened.buy())[0], (await opened.buy())[0], (await opened.buy())[0]];
    expect(await buyAll()).toEqual(["recorded", "recorded", "limit_reached"]);
    opened.now += ms;
    expect(await buyAll()).toEqual(["recorded", "recorded", "limit_reached"]);
    opened.now -= ms;
    expect(await buyAll()).toEqual(["limit_reached", "limit_reached", "limit_reached"]);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("commission follows the rules from their days on; an earlier day or an unknown bouquet is refused", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const commissions = async () => {
      const read = await opened.database.read("SELECT commission FROM top_up ORDER BY txn_id");
      return read.map(({ commission }) => Number(commission));
    };
    await opened.commission({ percent: "2.5" });
    await opened.commission({ fixed: "20", bouquet: "NET-1M", from: "2026-11-21" });
    await opened.commission({ percent: "1", service: "tv" });
    const { items } = await opened.commission({ percent: "1.25", service: "tv" });
    expect(items.map(({ percent, fixed, service }) => [percent, fixed, service])).toEqual([
      ["2.50", null, null],
      ["1.25", null, "tv"],
      [null, "20.00", null],
    ]);
    await opened.buy();
    opened.now += 1;
    await opened.buy(SITA_TV, "TV-1M");
    opened.now += DAY_MS;
    await opened.buy();
    await opened.commission({ percent: "0" });
    opened.now += 1;
    await opened.buy(SITA_NET, "NET-3M");
    expect(await commissions()).toEqual([2_825, 563, 2_000, 0]);
    const bad: readonly [string, Parameters<typeof opened.commission>[0]][] = [
      ["from", { percent: "1", from: "2026-11-20" }],
      ["from", { percent: "1", from: "2026-02-30" }],
      ["bouquet", { percent: "1", bouquet: "NET-1N" }],
      ["bouquet", { percent: "1", bouquet: "NET-1M", service: "tv" }],
      ["percent", { percent: "100.01" }],
      ["percent", { percent: "-1" }],
      ["percent", { percent: "1", fixed: "1" }],
      ["percent", { service: "tv" }],
      ["fixed", { fixed: "1.001" }],
    ];
    for (const [field, rule] of bad)
      expect(await refusal(opened.commission(rule))).toMatchObject({ problems: [{ field }] });
    expect((await opened.commission({})).items.map(({ percent }) => percent)).toEqual(["1.25", null, "0.00"]);
    expect((await opened.commission({ percent: "100", service: "iptv" })).items).toContainEqual(
      expect.objectContaining({ percent: "100.00", service: "iptv" }),
    );
  });

  test("a partner has at most 100 rules", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const days = Array.from({ length: 100 }, (_, index) => new Date(opened.now + index * DAY_MS));
    const rules = days.map((day) => ({ percent: 100, from: day.toISOString().slice(0, 10) }));
    const commission = JSON.stringify(rules);
    await opened.store.engine.change((tx) => tx.updateTable("partner").set({ commission }).execute());
    expect(await refusal(opened.commission({ fixed: "1", service: "tv" }))).toMatchObject({ code: "conflict" });
    expect((await opened.commission({ percent: "2", from: "2026-12-01" })).items).toHaveLength(100);
    opened.now += 2 * DAY_MS;
    expect((await opened.commission({ fixed: "1", service: "tv" })).items).toHaveLength(99);
  });
}

/** What happens at once. */
export function testAccountOperationsAtOnce(makeDatabase: MakeDatabase): void {
  test("top-ups of one batch count together against a limit a day", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const inOneBatch = async (count: number) => {
      const commands = Array.from({ length: count }, () => opened.command(SITA_NET, "NET-1M"));
      return (await Promise.all(commands.map((each) => opened.settle(each)))).filter((kind) => kind === "recorded");
    };
    await opened.limit({ dayTopUps: "3" });
    expect(await inOneBatch(2)).toHaveLength(2);
    expect(await inOneBatch(3)).toHaveLength(1);
    await opened.limit({ dayTopUps: "none", dayAmount: "5650" });
    expect(await inOneBatch(4)).toHaveLength(2);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("one reference makes one entry, also by two stores at once", async () => {
    const opened = await openAccountDesk(makeDatabase);
    await opened.account({ creditLimit: "0" });
    const audited = await countRows(opened, "audit_entry");
    const stores = [opened.store, await opened.another()];
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) => opened.enter(deposit("500", "bank 1"), stores[index % 2])),
    );
    expect(made.filter(({ before, after }) => before !== after)).toMatchObject([{ before: "0.00", after: "500.00" }]);
    expect(new Set(made.map(({ at }) => at)).size).toBe(1);
    expect(await countRows(opened, "account_entry")).toBe(1);
    expect(await countRows(opened, "audit_entry")).toBe(audited + 1);
    opened.now += 1_000;
    const again = await opened.enter(deposit("500.00", "bank 1", { reason: "another" }));
    expect(again).toMatchObject({ at: "2026-11-20T09:00:00.000Z", reason: null, before: "500.00", after: "500.00" });
    for (const other of [deposit("500.01", "bank 1"), deposit("500", "bank 1", { kind: "adjustment" })])
      expect(await refusal(opened.enter(other))).toMatchObject({
        code: "conflict",
        words: expect.stringContaining("was used for a deposit of 500.00 at 2026-11-20 09:00:00"),
      });
    await opened.enter(deposit("500", "bank 1", { environment: "trial" }));
    expect(await opened.balances()).toEqual([50_000n, 50_000n]);
  });

  test("deposits at once each have the balance before and after them, also without a credit limit", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const stores = [opened.store, await opened.another()];
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) => opened.enter(deposit("1", `bank ${index}`), stores[index % 2])),
    );
    const sorted = made.map(({ before, after }) => [Number(before), Number(after)] as const).sort(([a], [b]) => a - b);
    expect(sorted).toEqual(Array.from({ length: 8 }, (_, index) => [index, index + 1]));
  });

  test("a preview writes nothing", async () => {
    const opened = await openAccountDesk(makeDatabase);
    await opened.account({ creditLimit: "0" });
    const tables = ["account_entry", "audit_entry", "account WHERE balance = 0"];
    const count = () => Promise.all(tables.map((table) => countRows(opened, table)));
    const before = await count();
    const entry = deposit("500", "bank 1", { preview: true });
    expect(await opened.enter(entry)).toMatchObject({ at: null, before: "0.00", after: "500.00" });
    expect(await refusal(opened.enter({ ...entry, kind: "withdrawal" }))).toMatchObject({ code: "conflict" });
    expect(await count()).toEqual(before);
  });

  test("a withdrawal and top-ups at once never take more than is available; an adjustment can", async () => {
    const opened = await openAccountDesk(makeDatabase);
    await opened.enter(deposit("3390", "bank 1"));
    await opened.account({ creditLimit: "1130" });
    const other = await opened.another();
    const work = [SITA_NET, RAM_NET, SITA_NET, RAM_NET].map((of) => opened.settle(opened.command(of, "NET-1M")));
    const taken = [1, 2, 3, 4].map((count) =>
      opened.enter({ kind: "withdrawal", amount: "1130", reference: `V-${count}` }, other).then(
        () => "recorded",
        (error) => (error as { code: string }).code,
      ),
    );
    const outcomes = await Promise.all([...work, ...taken]);
    expect(outcomes.filter((outcome) => outcome === "recorded")).toHaveLength(4);
    expect(outcomes.filter((each) => each === "insufficient_balance" || each === "conflict")).toHaveLength(4);
    expect(await opened.balances()).toEqual([-NET, -NET]);
    expect(await opened.show()).toMatchObject({ balance: "-1130.00", available: "0.00" });
    await opened.enter({ kind: "adjustment", amount: "-0.01", reference: "C-1" });
    expect(await opened.show()).toMatchObject({ available: "-0.01" });
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("an account becomes guarded while top-ups run through another store", async () => {
    const opened = await openAccountDesk(makeDatabase);
    await opened.enter(deposit("100000", "bank 1"));
    const other = await opened.another();
    const commands = Array.from({ length: 32 }, (_, index) =>
      opened.command([SITA_NET, RAM_NET, RAM_TV][index % 3] ?? SITA_NET, index % 3 === 2 ? "TV-1M" : "NET-1M"),
    );
    const first = commands.slice(0, 16).map((command) => opened.settle(command, other));
    const guarded = opened.account({ creditLimit: "0" });
    const rest = commands.slice(16).map((command) => opened.settle(command, other));
    expect(new Set(await Promise.all([...first, ...rest]))).toEqual(new Set(["recorded"]));
    await guarded;
    const [stored, summed] = await opened.balances();
    expect([stored, summed]).toEqual([10_000_000n - 22n * NET - 10n * 45_000n, stored]);
    expect(await findWrong(opened.store)).toEqual([]);
  });
}
