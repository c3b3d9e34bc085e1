import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { connectionOf } from "../world.ts";

/** Numbers have seven digits: there are no more customers than that. */
export const MOST_CUSTOMERS = 10_000_000;

/**
 * Writes a provider's file of customers, in the order of their ids, as providers export them. Their mobile numbers
 * and set-top boxes come in no such order: the import puts the codes of one customer into places of the database
 * that are far apart, as it must with real ones. Numbers that all grow together would spare it that.
 */
export async function writeCustomers(path: string, customers: number): Promise<void> {
  const file = createWriteStream(path);
  for (let index = 0; index < customers; index += 1) {
    if (!file.write(`${JSON.stringify(customer(index))}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

/** An internet username with a running subscription, and every other customer a set-top box. */
function customer(index: number): object {
  const { cuid, reqId: username } = connectionOf(index);
  const subscriptions = [{ code: "NET-1M", startdate: "2026-11-01 09:00:00", enddate: "2027-11-01 09:00:00" }];
  const internet = [{ username, status: "active", subscriptions }];
  const tv = index % 2 === 0 ? [{ stb: `0077${scattered(index, 5_915_587)}`, status: "active" }] : [];
  const name = { first_name: `First${cuid}`, last_name: "Sherpa" };
  const mobile = `98${scattered(index, 7_368_787)}0`;
  return { cuid, ...name, mobile, status: "active", connections: { internet, tv } };
}

/** @param step shares no factor with {@link MOST_CUSTOMERS}, so that no two get the same number. */
function scattered(index: number, step: number): string {
  return String((index * step) % MOST_CUSTOMERS).padStart(7, "0");
}
