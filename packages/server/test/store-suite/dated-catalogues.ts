import { expect, test } from "vitest";
import { listEntries } from "../../src/office/audit/sql.ts";
import { removeBouquet, restoreCatalogue, setBouquet, withdrawCatalogue } from "../../src/office/catalogue/edit.ts";
import {
  exportCatalogue,
  listCatalogueRevisions,
  publishCatalogue,
  showCatalogue,
  showCatalogueRevision,
} from "../../src/office/catalogue/operations.ts";
import { publishBouquets } from "../../src/office/catalogue/publish.ts";
import { officeOf } from "../../src/office/office.ts";
import { listPackages } from "../../src/partner/customers.ts";
import { knownBouquets } from "../../src/store/reference-cache.ts";
import { fileOfRows } from "../support/catalogue.ts";
import { refusal, run } from "../support/desk.ts";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, withinASecond } from "./database.ts";
import { BOUQUETS, openProvider, SITA_NET } from "./provider.ts";

const NET = { service: "internet", code: "NET-1M" } as const;
const FROM = "2026-12-01";
const MIDNIGHT = Date.parse("2026-12-01T00:00:00+05:45");
const OLD = 113_000n;
const NEW = 125_000n;

export function testDatedCatalogues(makeDatabase: MakeDatabase): void {
  async function open() {
    const opened = await openProvider(makeDatabase, { timeZone: "Asia/Kathmandu" });
    const { store, partner } = opened;
    const desk = opened.desk();
    const caller = {
      partnerId: partner.id,
      partnerName: "wallet",
      tokenId: undefined,
      environment: "production",
    } as const;
    const ports = { store, clock: () => opened.now, random: seededRandom(9) };
    /** The price that partners get. */
    const listed = async (on = store) => {
      const answer = await listPackages({ ...ports, store: on }, caller, SITA_NET, 0);
      return answer.ok ? answer.value.bouquets.find(({ code }) => code === NET.code)?.price : undefined;
    };
    const raise = (more: object = {}) => run(desk, setBouquet, { ...NET, price: "1250", from: FROM, ...more });
    const waitingIn = async () => (await run(desk, showCatalogue, {})).waiting;
    return { opened, store, desk, listed, raise, waitingIn };
  }

  test("a dated price is listed and sold from midnight of the provider, in every process", async () => {
    const { store, opened, listed, raise } = await open();
    const { command, quote } = opened;
    const other = await opened.another();
    expect(await listed(other)).toBe(OLD);
    expect(await raise()).toMatchObject({ revision: 2, from: FROM, changed: 1 });
    opened.now = MIDNIGHT - 1;
    await withinASecond(async () => {
      expect(await Promise.all([listed(), listed(other)])).toEqual([OLD, OLD]);
      expect(await other.currentCatalogue("production", MIDNIGHT)).toMatchObject({ revision: 2 });
    });
    const quoted = [command(SITA_NET, NET.code), command(SITA_NET, NET.code)] as const;
    opened.now = MIDNIGHT;
    expect(await Promise.all([listed(), listed(other)])).toEqual([NEW, NEW]);
    expect(await store.settleTopUp(quoted[0])).toMatchObject({ kind: "recorded" });
    opened.now += 299_999;
    expect(await other.settleTopUp(quoted[1])).toMatchObject({ kind: "recorded" });
    const { revision = 0 } = (await other.currentCatalogue("production", opened.now)) ?? {};
    const settle = (amount: bigint) =>
      other.settleTopUp(command(SITA_NET, NET.code, { ...quote(SITA_NET, { revision }), amount }));
    expect(await settle(OLD)).toMatchObject({ kind: "refused" });
    expect(await settle(NEW)).toMatchObject({ kind: "recorded" });
  });

  test("while a change waits, every other is refused until it is withdrawn", async () => {
    const { desk, store, opened, raise, waitingIn, listed } = await open();
    await raise({ reason: "prices of December" });
    expect(await waitingIn()).toEqual({ revision: 2, from: FROM, author: "tester", reason: "prices of December" });
    const file = fileOfRows([{ ...NET, name: "Fiber 100 Mbps (MONTHLY)", price: 1 }]);
    const others = [
      () => raise({ from: undefined }),
      () => raise({ from: "2026-12-24", preview: true }),
      () => run(desk, removeBouquet, NET),
      () => run(desk, restoreCatalogue, { revision: 1 }),
      () => run(desk, publishCatalogue, { file, environment: "production", allowLargeChange: true }),
      () => publishBouquets(officeOf(desk), "production", { bouquets: BOUQUETS }),
    ];
    for (const other of others)
      expect(await refusal(other())).toMatchObject({
        code: "conflict",
        words: "revision 2 waits for 2026-12-01: withdraw it first",
      });
    await run(desk, setBouquet, { ...NET, environment: "trial", name: "Net (MONTHLY)", price: "1" });
    await run(desk, withdrawCatalogue, { revision: 2, reason: "not this year" });
    expect(await waitingIn()).toBeNull();
    const [entry] = await listEntries(store.engine.db, {}, 1);
    expect(entry).toMatchObject({ action: "catalogue.withdraw", subject: "production", reason: "not this year" });
    expect(JSON.parse(entry?.before ?? "")).toEqual({ revision: 2, from: FROM });
    opened.now = MIDNIGHT;
    expect(await listed()).toBe(OLD);
    await raise({ from: undefined });
    expect(await listed()).toBe(NEW);
  });

  test("only a revision that waits can be withdrawn", async () => {
    const { desk, opened, raise } = await open();
    const withdraw = async (revision: number) => (await refusal(run(desk, withdrawCatalogue, { revision }))).code;
    expect(await withdraw(1)).toBe("conflict");
    expect(await withdraw(9)).toBe("not_found");
    await raise();
    opened.now = MIDNIGHT;
    expect(await withdraw(2)).toBe("conflict");
  });

  test("a change can be dated from tomorrow, in whole days that exist", async () => {
    const { opened, raise } = await open();
    opened.now = MIDNIGHT - 1;
    const problem = async (from: string) => (await refusal(raise({ from, preview: true }))).problems[0];
    const words = "must be a day after today: without it, the change is in force at once";
    expect(await problem("2026-11-30")).toEqual({ field: "from", problem: words });
    expect(await problem("2026-11-31")).toMatchObject({ field: "from" });
    expect(await raise()).toMatchObject({ from: FROM });
  });

  test("a clock that goes back undoes a dated change, and never one without a date", async () => {
    const { opened, listed, raise } = await open();
    await raise();
    opened.now = MIDNIGHT;
    const late = await opened.another();
    expect(await Promise.all([listed(), listed(late)])).toEqual([NEW, NEW]);
    opened.now -= 1;
    expect(await Promise.all([listed(), listed(late)])).toEqual([OLD, OLD]);
    opened.now += 1;
    await raise({ price: "1300", from: undefined });
    opened.now -= 3_600_000;
    expect(await listed()).toBe(130_000n);
    await raise({ price: "1400", from: undefined });
    expect(await listed()).toBe(140_000n);
  });

  test("a file's bouquets, retired ones too, are known from the day on, and never after a withdrawal", async () => {
    const { desk, store, opened } = await open();
    const row = (code: string, retired?: true) => ({ ...NET, code, name: `${code} (MONTHLY)`, price: 1, retired });
    const file = fileOfRows(
      [row("A"), row("B", true)].map(({ retired, ...each }) => ({ ...each, ...(retired && { retired }) })),
    );
    const publish = () => run(desk, publishCatalogue, { file, from: FROM, allowLargeChange: true });
    const known = async () => (await knownBouquets(store.engine.db, "production", opened.now)).map(({ code }) => code);
    const before = await known();
    expect(before).toHaveLength(BOUQUETS.length);
    expect(await publish()).toMatchObject({ revision: 3 });
    expect(await known()).toEqual(before);
    await run(desk, withdrawCatalogue, { revision: 3 });
    await publish();
    opened.now = MIDNIGHT;
    expect(await known()).toEqual(["A", "B", ...before].toSorted((a, b) => before.indexOf(a) - before.indexOf(b)));
    await run(desk, restoreCatalogue, { revision: 1, allowLargeChange: true });
    const { value } = await (await run(desk, exportCatalogue, {})).next();
    expect(value).toHaveLength(BOUQUETS.length + 2);
  });

  test("revisions state whether they are in force, wait or were withdrawn, and what would change", async () => {
    const { desk, opened, raise } = await open();
    opened.now += 1;
    await raise();
    await run(desk, withdrawCatalogue, { revision: 2 });
    opened.now += 1;
    await raise();
    const states = async () =>
      (await run(desk, listCatalogueRevisions, {})).items.map(({ revision, state, from }) => [revision, state, from]);
    expect(await states()).toEqual([
      [3, "waiting", FROM],
      [2, "withdrawn", null],
      [1, "current", null],
    ]);
    const shown = (revision: number) => run(desk, showCatalogueRevision, { revision });
    const fields = [{ field: "price", from: "1130.00", to: "1250.00" }];
    expect(await shown(3)).toMatchObject({ state: "waiting", from: FROM, change: { bouquets: [{ ...NET, fields }] } });
    opened.now = MIDNIGHT;
    expect(await states()).toEqual([
      [3, "current", FROM],
      [2, "withdrawn", null],
      [1, "previous", null],
    ]);
    expect(await shown(3)).toMatchObject({ state: "current", change: null });
    const entries = await listEntries(opened.store.engine.db, { action: "catalogue.set" }, 1);
    expect(JSON.parse(entries[0]?.after ?? "")).toEqual({ revision: 3, bouquets: BOUQUETS.length, from: FROM, ...NET });
  });
}
