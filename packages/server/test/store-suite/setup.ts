import { expect, test } from "vitest";
import type { Role } from "../../src/domain/authority.ts";
import { publishBouquets } from "../../src/office/catalogue/publish.ts";
import { type FirstSetting, officeOf } from "../../src/office/office.ts";
import { addPartner } from "../../src/office/partners/operations.ts";
import { issueToken } from "../../src/office/partners/tokens.ts";
import { addFirstAdmin, lacksStaff } from "../../src/office/setup/first-admin.ts";
import { readSetup } from "../../src/office/setup/steps.ts";
import { addStaff, listStaff } from "../../src/office/staff/operations.ts";
import type { Store } from "../../src/store/store.ts";
import { accountTools } from "../../src/system/account-tools.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { CHEAP } from "../support/office-line.ts";
import { seededRandom } from "../support/random.ts";
import { type MakeDatabase, openStore, START } from "./database.ts";
import { BOUQUETS, importRows, SITA } from "./provider.ts";

const PASSWORD = "mango 27 Bhaktapur lane";
const random = seededRandom(3);
const ports = (store: Store) => ({ store, clock: () => START, random });
const accounts = (store: Store) => accountTools(ports(store), CHEAP);
const desk = (store: Store, settings: readonly FirstSetting[] = []) =>
  deskOf(ports(store), { name: "root" }, { accounts: accounts(store), settings });
const setting = (isNeeded: boolean, value: string | null): FirstSetting => ({
  ...{ title: "Currency", variable: "TOPUPD_CURRENCY", isNeeded, value },
});

/** The first run: its steps, and its first admin. */
export function testSetup(makeDatabase: MakeDatabase): void {
  test("a step is done once its fact exists", async () => {
    const { store } = await openStore(makeDatabase);
    const undone = async (settings?: readonly FirstSetting[]) => {
      const { steps, isDone } = await run(desk(store, settings), readSetup, {});
      const left = steps.filter((step) => !step.isDone).map(({ step }) => step);
      expect(isDone).toBe(left.length === 0);
      return left;
    };
    const all = ["settings", "admin", "catalogue", "customers", "partner", "trial_token"];
    expect(await undone([setting(true, null)])).toEqual(all);
    expect(await undone([setting(true, "NPR"), setting(false, null)])).toEqual(all.slice(1));
    const add = (name: string, role: Role) =>
      run(desk(store), addStaff, { name, role: role as "admin", password: PASSWORD });
    await add("ravi", "viewer");
    expect(await undone()).toEqual(all.slice(1));
    await add("maya", "admin");
    // The trial environment is not the provider's.
    await publishBouquets(officeOf(desk(store)), "trial", { bouquets: BOUQUETS });
    expect(await undone()).toEqual(all.slice(2));
    await publishBouquets(officeOf(desk(store)), "production", { bouquets: BOUQUETS });
    expect(await undone()).toEqual(all.slice(3));
    await importRows(store, START, SITA);
    expect(await undone()).toEqual(all.slice(4));
    await run(desk(store), addPartner, { name: "Blue Wallet" });
    await run(desk(store), issueToken, { partner: "Blue Wallet", environment: "production" });
    expect(await undone()).toEqual(all.slice(5));
    await run(desk(store), issueToken, { partner: "Blue Wallet", environment: "trial" });
    expect(await undone()).toEqual([]);
  });
}

/** What happens at once. */
export function testSetupAtOnce(makeDatabase: MakeDatabase): void {
  test("of several first admins at the same time, one is added, also by two processes", async () => {
    const { store, another } = await openStore(makeDatabase);
    const other = await another();
    expect(await lacksStaff(store.engine.db)).toBe(true);
    const names = ["maya", "ravi", "gita", "hari"];
    const added = await Promise.allSettled(
      names.map((name, at) => {
        const own = at % 2 === 0 ? store : other;
        return addFirstAdmin(officeOf(desk(own)), { name, password: PASSWORD });
      }),
    );
    expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const { items } = await run(desk(store), listStaff, {});
    expect(items).toMatchObject([
      { name: names[added.findIndex(({ status }) => status === "fulfilled")], role: "admin" },
    ]);
    expect(await refusal(addFirstAdmin(officeOf(desk(other)), { name: "sita", password: PASSWORD }))).toMatchObject({
      ...{ code: "conflict", words: "the first admin was added already: log in" },
    });
  });
}
