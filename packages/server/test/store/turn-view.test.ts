import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { seededRandom } from "../support/random.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

test("a top-up that another store has acknowledged is found, also by one that read something else just before", async () => {
  const opened = await openProvider(() => makeSqliteDatabase());
  const { store: asking, command } = opened;
  const views: Promise<unknown>[] = [];
  // Looked at inside the transaction that records: what is read then cannot see it.
  const clock = () => {
    views.push(asking.findConnection(SITA_NET));
    return opened.now;
  };
  const recording = await opened.database.open({ clock, random: seededRandom(9), basePlans: DEFAULT_BASE_PLANS });
  onTestFinished(() => recording.close());
  const sent = command(SITA_NET, "NET-1M");
  const transaction = expectRecorded(await recording.settleTopUp(sent));
  expect(await asking.findTransaction(sent.checkoutId)).toEqual(transaction);
  await Promise.all(views);
});
