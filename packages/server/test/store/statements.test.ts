import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Database } from "../../src/store/sqlite/database.ts";
import { seededRandom } from "../support/random.ts";
import { START, temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("rows are read to their end, whatever is collected meanwhile", async () => {
  const path = join(temporaryFolder(), "topupd.db");
  const store = await makeSqliteDatabase(path).open({ clock: () => START, random: seededRandom(1) });
  await store.close();
  const database = new Database(path, { mustExist: true });
  const query = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n";
  let count = 0;
  for (const _ of database.iterate(query)) {
    count += 1;
    if (count % 500 !== 0) continue;
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  database.close();
  expect(count).toBe(2000);
});
