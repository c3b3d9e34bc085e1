import { expect, test } from "vitest";
import { StoreRefused } from "../../src/store/errors.ts";
import type { ArchiveChunk, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { countRows, findWrong, type MakeDatabase, openStore } from "./database.ts";
import { archiveOf, contentsOf, type FilledProvider, openFilledProvider } from "./filled-provider.ts";
import { BOUQUETS, expectRecorded, openProvider, RAM_NET, restate, SITA, SITA_NET, SITA_TV } from "./provider.ts";

type Chunks = AsyncIterable<ArchiveChunk>;

/** An archive for which nobody has to wait. */
export function testSnapshots(makeDatabase: MakeDatabase): void {
  test("a snapshot is what there was when it began, whatever is written before it is read", async () => {
    const opened = await openFilledProvider(makeDatabase);
    const other = await opened.another();
    const before = await archiveOf(opened.store);
    const taken = await opened.store.exportArchive("go_on", async (chunks) => {
      await writeEverywhere(other, opened);
      return contentsOf(chunks);
    });
    expect(taken).toEqual(before);
    expect(await archiveOf(opened.store)).not.toEqual(before);
    expect(await findWrong(other)).toEqual([]);
  });

  test("a snapshot holds nothing that was written while it was read", async () => {
    const opened = await openFilledProvider(makeDatabase);
    const other = await opened.another();
    const before = await archiveOf(opened.store);
    let chunksSeen = 0;
    const taken = await opened.store.exportArchive("go_on", (chunks) => {
      const disturbed = async function* (): AsyncGenerator<ArchiveChunk> {
        for await (const chunk of chunks) {
          chunksSeen += 1;
          expectRecorded(await other.settleTopUp(opened.command(SITA_NET, "NET-1M")));
          await other.addPartner(`partner ${chunksSeen}`, by(opened.now));
          yield chunk;
        }
      };
      return contentsOf(disturbed());
    });
    expect(taken).toEqual(before);
    expect(chunksSeen).toBeGreaterThan(10);
    expect(await countRows(opened, "top_up")).toBe(6 + chunksSeen);
  });

  test("snapshots under load are whole, and hold all that was acknowledged before", async () => {
    const opened = await openProvider(makeDatabase);
    const writers = [opened.store, await opened.another(), await opened.another()];
    const reader = await opened.another();
    const acknowledged: string[] = [];
    let isOver = false;
    const load = writers.map(async (writer, index) => {
      while (!isOver) {
        const command = opened.command(
          [SITA_NET, RAM_NET, SITA_TV][index] ?? SITA_NET,
          index === 2 ? "TV-1M" : "NET-1M",
        );
        acknowledged.push(expectRecorded(await writer.settleTopUp(command)).checkoutId);
      }
    });
    try {
      for (let round = 0; round < 4; round += 1) {
        const enough = acknowledged.length + 20;
        while (acknowledged.length < enough) await new Promise((resolve) => setImmediate(resolve));
        const before = [...acknowledged];
        const copy = await openStore(makeDatabase, { seed: 7 + round });
        await reader.exportArchive("go_on", (chunks) => copy.store.importArchive(chunks));
        for (const checkoutId of before) expect(await copy.store.findTransaction(checkoutId)).toBeDefined();
        expect(await findWrong(copy.store)).toEqual([]);
      }
    } finally {
      isOver = true;
      await Promise.all(load);
    }
    expect(await findWrong(reader)).toEqual([]);
  });

  test("several snapshots can be taken at once, and beside an archive for which writers wait", async () => {
    const { store, another } = await openFilledProvider(makeDatabase);
    const other = await another();
    const all = await other.exportArchive("wait", async (chunks) => {
      const taken = [store, other].map((each) => each.exportArchive("go_on", contentsOf));
      return Promise.all([contentsOf(chunks), ...taken]);
    });
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
  });

  test("a snapshot that is broken off leaves the store usable", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const failed = store.exportArchive("go_on", async (chunks: Chunks) => {
      for await (const chunk of chunks) if (chunk.kind === "rows") throw new StoreRefused("enough");
    });
    await expect(failed).rejects.toThrow("enough");
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  });
}

/** All of it must be done at once: whoever had to wait would wait for the snapshot, and for ever. */
async function writeEverywhere(store: Store, { now, command, checkouts }: FilledProvider): Promise<void> {
  expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  await store.concludeCheckout(checkouts.open.checkoutId);
  await store.addPartner("late", by(now));
  await store.setPartnerStatus("wallet", "suspended", by(now));
  await store.revokeAccessToken("tok_valid", by(now));
  await store.publishCatalogue("production", BOUQUETS.slice(0, 2), by(now));
  await restate(store, now + 1, { ...SITA, first_name: "Other" });
}
