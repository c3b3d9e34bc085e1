import { join } from "node:path";
import { expect, test } from "vitest";
import { engines } from "../../campaign/engines.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("both engines answer every operation alike, and end with the same tables", async () => {
  const { url, made } = makePostgresDatabase();
  await made;
  const openPostgres: Parameters<typeof engines>[0]["openPostgres"] = (options) =>
    openPostgresStore({ ...options, url, connections: 4 });
  const path = join(temporaryFolder(), "topupd.db");
  expect(await engines({ seed: 1, rounds: 20, path, openPostgres })).toMatch(/equal on both engines$/);
}, 600_000);
