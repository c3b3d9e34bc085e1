import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { openProvider, SITA_NET } from "../store-suite/provider.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const WAYS: readonly (readonly [string, (path: string) => void])[] = [
  ["removed", (path) => rmSync(path)],
  ["moved away", (path) => renameSync(path, `${path}.old`)],
  [
    "replaced by a backup",
    (path) => {
      copyFileSync(path, `${path}.backup`);
      renameSync(`${path}.backup`, path);
    },
  ],
  ["separated from its log", (path) => rmSync(`${path}-wal`)],
];

test.each(WAYS)("a database whose file was %s records nothing more, and says that it is not ready", async (_, move) => {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, command } = await openProvider(() => makeSqliteDatabase(path));
  expect((await store.settleTopUp(command(SITA_NET, "NET-1M"))).kind).toBe("recorded");
  await store.ping();
  move(path);
  await expect(store.settleTopUp(command(SITA_NET, "NET-1M"))).rejects.toThrow(StoreUnavailable);
  await expect(store.ping()).rejects.toThrow("moved, replaced or removed");
});
