import { afterEach, expect, test, vi } from "vitest";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { HistoricTopUp } from "../../src/domain/history-row.ts";
import { Session } from "../../src/store/postgres/session/session.ts";
import { findWrong } from "../store-suite/database.ts";
import { recordedElsewhere } from "../store-suite/history.ts";
import { openProvider, reversalOf } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";

const UNKNOWN: ConnectionKey = { environment: "production", cuid: "9000001", service: "tv", reqId: "elsewhere" };

afterEach(() => {
  vi.restoreAllMocks();
});

/** Top-ups from elsewhere, of a customer who has no row here, all of them old enough to go. */
async function openOld() {
  const opened = await openProvider(makePostgresDatabase);
  const other = await opened.another();
  const topUps = recordedElsewhere(opened, 3, [UNKNOWN]);
  await opened.store.history.import("production", topUps, by(opened.now));
  const { retention } = other;
  await retention.moveHorizon(opened.now, by(opened.now));
  const prune = () => retention.pruneImported({ before: opened.now, dryRun: false }, undefined);
  const waiting = async () => (await opened.database.read(WAITING)).length;
  return { opened, topUps, prune, waiting };
}

const WAITING =
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()";

/** Stops before the next commit. @returns what lets it go on. */
function stopNextCommit() {
  const [released, release] = signal();
  const [stopped, reached] = signal();
  const spy = vi.spyOn(Session.prototype, "commit");
  spy.mockImplementationOnce(async function (this: Session, ...what) {
    reached();
    await released;
    // Only the first call is stopped.
    return this.commit(...what);
  });
  return { stopped, release };
}

function signal(): [promise: Promise<void>, give: () => void] {
  let give = () => {};
  const promise = new Promise<void>((resolve) => {
    give = resolve;
  });
  return [promise, give];
}

test("a top-up from elsewhere that is taken back while it is let go stays, and the others go", async () => {
  const { opened, topUps, prune, waiting } = await openOld();
  const [{ transaction }] = topUps as [HistoricTopUp];
  const { stopped, release } = stopNextCommit();
  const reversing = opened.store.corrections.reverse(transaction.checkoutId, { ...by(opened.now), reason: "late" });
  await stopped;
  const pruning = prune();
  pruning.catch(() => {});
  await expect.poll(waiting, { interval: 10 }).toBe(1);
  release();
  expect(await reversing).toMatchObject({ kind: "reversed_on_record" });
  expect((await pruning).pruned.topUps).toHaveLength(2);
  expect(await opened.store.findTransaction(transaction.checkoutId)).toMatchObject({ status: "reversed" });
  expect(await reversalOf(opened.store, transaction.checkoutId)).toMatchObject({ reason: "late" });
  expect(await findWrong(opened.store)).toEqual([]);
});

test("a top-up from elsewhere that is let go while it is taken back is not found any more", async () => {
  const { opened, topUps, prune, waiting } = await openOld();
  const [{ transaction }] = topUps as [HistoricTopUp];
  const { stopped, release } = stopNextCommit();
  const pruning = prune();
  await stopped;
  const reversing = opened.store.corrections.reverse(transaction.checkoutId, { ...by(opened.now), reason: "late" });
  await expect.poll(waiting, { interval: 10 }).toBe(1);
  release();
  expect((await pruning).pruned.topUps).toHaveLength(3);
  expect(await reversing).toEqual({ kind: "not_found" });
  expect(await findWrong(opened.store)).toEqual([]);
});

test("letting go beside an import of the same top-ups in another order waits for it, and neither fails", async () => {
  const { opened, topUps, prune, waiting } = await openOld();
  const { stopped, release } = stopNextCommit();
  const importing = opened.store.history.import("production", topUps.toReversed(), by(opened.now));
  await stopped;
  const pruning = prune();
  await expect.poll(waiting, { interval: 10 }).toBe(1);
  release();
  expect((await importing).map(({ kind }) => kind)).toEqual(["unchanged", "unchanged", "unchanged"]);
  expect((await pruning).pruned.topUps).toHaveLength(3);
});
