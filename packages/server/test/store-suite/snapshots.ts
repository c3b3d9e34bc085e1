import { expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { ArchiveChunk, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { partnersOf } from "../support/partners.ts";
import { isOf, type Rows } from "./archives.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { archiveOf, contentsOf, type FilledProvider, openFilledProvider } from "./filled-provider.ts";
import { BOUQUETS, expectRecorded, importRows, openProvider, RAM_NET, SITA, SITA_NET } from "./provider.ts";

/** Other work while an archive is read. */
export function testSnapshots(makeDatabase: MakeDatabase): void {
  test("nothing is acknowledged while writers wait, and everything earlier is in the archive", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    let isTaken = false;
    const acknowledged: string[] = [];
    const race = Array.from({ length: 30 }, async (_, index) => {
      const command = opened.command(index % 2 === 0 ? SITA_NET : RAM_NET, "NET-1M");
      await new Promise((resolve) => setTimeout(resolve, index * 3));
      const outcome = await other.settleTopUp(command).catch((error: unknown) => {
        expect(error).toBeInstanceOf(StoreUnavailable);
      });
      if (outcome && !isTaken) acknowledged.push(expectRecorded(outcome).checkoutId);
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const taken = await opened.store.exportArchive("wait", async (chunks) => {
      const inArchive: unknown[] = [];
      for await (const chunk of chunks) {
        if (isOf(chunk, "top_up")) inArchive.push(...(chunk as Rows).rows.map(([checkoutId]) => checkoutId));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(await other.lookUpCustomers("production", "2000001")).toHaveLength(1);
      isTaken = true;
      return inArchive.map(String).sort();
    });
    await Promise.all(race);
    expect(acknowledged.sort()).toEqual(taken);
    expect(await findWrong(other)).toEqual([]);
  });

  test("a writer that waits too long for an archive gets StoreUnavailable", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    await opened.store.exportArchive("wait", async () => {
      const attempts = [
        other.settleTopUp(opened.command(SITA_NET, "NET-1M")),
        importRows(other, opened.now, { ...SITA, last_name: "Tamang" }),
        partnersOf(other).add("late", by(opened.now)),
      ];
      for (const attempt of await Promise.allSettled(attempts))
        expect(attempt).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    });
    expect(await countRows(opened, "top_up")).toBe(0);
    expectRecorded(await other.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  });

  test("a snapshot contains the data of its beginning, although writes continue while it is read", async () => {
    const opened = await openFilledProvider(makeDatabase);
    const other = await opened.another();
    const before = await archiveOf(opened.store);
    const taken = await opened.store.exportArchive("go_on", async (chunks) => {
      await writeEverywhere(other, opened);
      const disturbed = async function* (): AsyncGenerator<ArchiveChunk> {
        for await (const chunk of chunks) {
          expectRecorded(await other.settleTopUp(opened.command(SITA_NET, "NET-1M")));
          yield chunk;
        }
      };
      return contentsOf(disturbed());
    });
    expect(taken).toEqual(before);
    expect(await archiveOf(opened.store)).not.toEqual(before);
    expect(await findWrong(other)).toEqual([]);
  });

  test("several snapshots can be read at once, and next to an archive that makes writers wait", async () => {
    const { store, another } = await openFilledProvider(makeDatabase);
    const other = await another();
    const all = await other.exportArchive("wait", async (chunks) => {
      const taken = [store, other].map((each) => each.exportArchive("go_on", contentsOf));
      return Promise.all([contentsOf(chunks), ...taken]);
    });
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
  });
}

/** Every write must finish at once: a waiting one would wait for the snapshot forever. */
async function writeEverywhere(store: Store, { now, command, checkouts }: FilledProvider): Promise<void> {
  expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  await store.concludeCheckout(checkouts.open.checkoutId);
  await partnersOf(store).add("late", by(now));
  await partnersOf(store).revokeToken("tok_valid", by(now));
  await publish(store, "production", BOUQUETS, by(now));
  await importRows(store, now + 1, { ...SITA, first_name: "Other" });
}
