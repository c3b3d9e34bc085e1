import { expect, test } from "vitest";
import { createCalendar } from "../../src/domain/calendar.ts";
import { readCustomerRow, type StatedCustomer } from "../../src/domain/customer-row.ts";
import { type JsonObject, readJson } from "../../src/domain/json.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import { START } from "../support/service.ts";
import { findWrong, type MakeDatabase, openStore } from "./database.ts";

const FORMS = ["+977 984-1000000", "977-9841000000", "9841000000", "009779841000000", "+9779841000000"];

type Row = { readonly cuid: string; readonly mobile?: string; readonly stb?: string };

function stated(...rows: readonly Row[]): StatedCustomer[] {
  return rows.map(({ stb, ...row }) => {
    const connections = stb === undefined ? {} : { tv: [{ stb, status: "active" }] };
    const text = JSON.stringify({ ...row, first_name: "A", last_name: "B", status: "active", connections });
    const context = { calendar: createCalendar("UTC"), findBouquet: () => undefined };
    const reading = readCustomerRow(readJson(text) as JsonObject, context);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    return reading.value;
  });
}

async function put(store: Store, ...rows: readonly Row[]): Promise<void> {
  await store.importCustomers("production", stated(...rows), by(START), "unsaid");
}

/** Whom each of the two ways to look somebody up finds; they must agree. */
async function found(store: Store, code: string): Promise<string[]> {
  const overviews = (await store.lookUpCustomers("production", code)).map(({ cuid }) => cuid).toSorted();
  expect((await store.search.findCuids("production", code, 20)).slice(0, 2)).toEqual(overviews);
  return overviews;
}

export function testMobileNumbers(makeDatabase: MakeDatabase): void {
  const open = async () => (await openStore(makeDatabase, { defaultCountry: "NP" })).store;

  test.each(FORMS)(
    "a customer whose number is written as %s is found by any form, and shown as written",
    async (mobile) => {
      const store = await open();
      await put(store, { cuid: "1", mobile }, { cuid: "2", mobile: "9841000001" });
      for (const form of FORMS) expect(await found(store, form)).toEqual(["1"]);
      expect((await store.lookUpCustomers("production", "9841000000"))[0]?.mobile).toBe(mobile);
      expect(await findWrong(store)).toEqual([]);
    },
  );

  test("two of one household are both found, however each has written the number", async () => {
    const store = await open();
    await put(store, { cuid: "1", mobile: "977-9841000000" }, { cuid: "2", mobile: "+9779841000000" });
    for (const form of FORMS) expect(await found(store, form)).toEqual(["1", "2"]);
  });

  test("what is one customer's own code, and by its other form another's number, finds both", async () => {
    const store = await open();
    await put(
      store,
      { cuid: "9841000000" },
      { cuid: "2", mobile: "+977 9841000000" },
      { cuid: "3", stb: "9841000001" },
    );
    expect(await found(store, "9841000000")).toEqual(["2", "9841000000"]);
    expect(await found(store, "9841000001")).toEqual(["3"]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a number that is given up finds nobody in any form, and one that is no number is compared as it is", async () => {
    const store = await open();
    await put(store, { cuid: "1", mobile: "9841000000" }, { cuid: "2", mobile: "call the office" });
    await put(store, { cuid: "1", mobile: "9841000002" });
    for (const form of FORMS) expect(await found(store, form)).toEqual([]);
    expect(await found(store, "+9779841000002")).toEqual(["1"]);
    expect(await found(store, "call the office")).toEqual(["2"]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("without a country, numbers are compared as they are written", async () => {
    const { store } = await openStore(makeDatabase);
    await put(store, { cuid: "1", mobile: "9841000000" });
    for (const form of FORMS) expect(await found(store, form)).toEqual(form === "9841000000" ? ["1"] : []);
  });

  test("a number whose form another topupd knew differently is told by the check, and found again once imported", async () => {
    const { store, database } = await openStore(makeDatabase, { defaultCountry: "NP" });
    const rows = Array.from({ length: 12 }, (_, index) => ({ cuid: `c${index}`, mobile: `98410000${10 + index}` }));
    await put(store, ...rows, { cuid: "other", mobile: "call the office" });
    expect(await findWrong(store)).toEqual([]);
    const old = "replace(mobile_e164, '+977', '+0977')";
    await database.tamper(`UPDATE customer_code SET code = replace(code, '+977', '+0977')`);
    await database.tamper(`UPDATE customer SET mobile_e164 = ${old}`);
    expect(await found(store, "+9779841000010")).toEqual([]);
    const [wrong = "", ...more] = await findWrong(store);
    expect(more).toEqual([]);
    expect(wrong).toMatch(
      /^12 mobile numbers have another form than .*: import these customers again: c\d+ \(production\), .* and 2 others$/,
    );
    expect(wrong).not.toContain("98410");
    await put(store, ...rows);
    expect(await findWrong(store)).toEqual([]);
    for (const form of ["+9779841000010", "9841000010"]) expect(await found(store, form)).toEqual(["c0"]);
    expect(await found(store, "+09779841000010")).toEqual([]);
    const again = await store.importCustomers("production", stated(...rows), by(START), "unsaid");
    expect(new Set(again.map(({ kind }) => kind))).toEqual(new Set(["unchanged"]));
  });

  test("the country cannot be changed once there are customers", async () => {
    const { store, database } = await openStore(makeDatabase, { defaultCountry: "NP" });
    const options = { clock: () => START, random: seededRandom(9) };
    await put(store, { cuid: "1", mobile: "9841000000" });
    const again = await database.open(options);
    expect(again.provider.defaultCountry).toBe("NP");
    await again.close();
    await expect(database.open({ ...options, defaultCountry: "IN" })).rejects.toThrow(
      "--default-country (TOPUPD_DEFAULT_COUNTRY) is IN, but the database was filled with NP",
    );
  });
}
