import { expect, test } from "vitest";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { Refusal } from "../../src/domain/failure.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import {
  expectRecorded,
  GITA_NET,
  HARI_TV,
  type OpenedProvider,
  openProvider,
  RAM_TV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

type Ask = (provider: OpenedProvider) => TopUpCommand;

const at = (connection: ConnectionKey, code: string): Ask => {
  return ({ command }) => command(connection, code);
};

const REFUSED: readonly (readonly [string, Refusal, Ask])[] = [
  ["a customer that is not there", "customer_not_found", at({ ...SITA_NET, cuid: "9" }, "NET-1M")],
  ["a customer of the other environment", "customer_not_found", at({ ...SITA_NET, environment: "trial" }, "NET-1M")],
  ["an inactive customer", "customer_inactive", at(GITA_NET, "NET-1M")],
  ["a connection that is not there", "connection_not_found", at({ ...SITA_NET, reqId: "nobody" }, "NET-1M")],
  ["a username of another service", "connection_not_found", at({ ...SITA_NET, service: "iptv" }, "ITV-1M")],
  ["a blocked connection", "connection_blocked", at(HARI_TV, "TV-1M")],
  ["a bouquet that is not in the catalogue", "bouquet_unavailable", at(SITA_NET, "NET-9M")],
  ["a bouquet of another segment", "bouquet_unavailable", at(SITA_TV, "SPORT-1M")],
  ["an add-on without a running base", "bouquet_unavailable", at(RAM_TV, "KIDS-1M")],
  [
    "a revision that was never published",
    "bouquet_unavailable",
    ({ command, quote }) => command(SITA_NET, "NET-1M", quote(SITA_NET, { revision: 77 })),
  ],
  ["a lower amount", "amount_mismatch", ({ command }) => command(SITA_NET, "NET-1M", { amount: 112_999n })],
  [
    "a checkout for another connection",
    "checkout_mismatch",
    ({ command }) => ({ ...command(SITA_NET, "NET-1M"), reqId: "sita-iptv" }),
  ],
];

export function testRefusals(makeDatabase: MakeDatabase): void {
  test.each(REFUSED)("%s is refused as %s, and nothing is written", async (_, refusal, ask) => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const entries = await countRows(opened, "ledger_entry");
    const command = ask(opened);
    expect(await store.settleTopUp(command)).toEqual({ kind: "refused", refusal });
    expect(await store.findTransaction(command.checkoutId)).toBeUndefined();
    expect(await countRows(opened, "top_up")).toBe(0);
    expect(await countRows(opened, "retired_checkout")).toBe(0);
    expect(await countRows(opened, "ledger_entry")).toBe(entries);
  });

  test("a checkout that was refused can still be used", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const right = command(SITA_NET, "NET-1M");
    for (const wrong of [{ amount: 1n }, { bouquetCode: "NET-9M" }, { cuid: "2000002" }])
      expect((await store.settleTopUp({ ...right, ...wrong })).kind).toBe("refused");
    expectRecorded(await store.settleTopUp(right));
  });
}
