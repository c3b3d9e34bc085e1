import { describe, expect, test } from "vitest";
import { historyLine } from "../support/history-line.ts";
import { SITA } from "../support/provider-files.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const [FIBER] = SITA.connections.internet;
const SHORTER = { code: "NET-1M", startdate: "2026-01-31 10:00:00", enddate: "2026-02-20 10:00:00" };
const rowOf = (cuid: string) => ({
  ...{ ...SITA, cuid },
  connections: { ...SITA.connections, internet: [{ ...FIBER, subscriptions: [SHORTER] }] },
});
const TOLD = "line 2: 2000001 internet NET-1M is not taken: it does not go with what was granted here\n";

async function bookLine() {
  const line = await historyLine(makeSqliteDatabase);
  line.write("file.ndjson", [rowOf("7"), rowOf(SITA.cuid)].map((row) => `${JSON.stringify(row)}\n`).join(""));
  return line;
}

describe("a subscription of a file that a top-up does not let in", () => {
  test("is told by its line and customer, and counted, by a dry run too", async () => {
    const line = await bookLine();
    for (const flags of [["--dry-run"], []]) {
      const { code, stdout, stderr } = await line.run("import", "customers", "file.ndjson", ...flags);
      expect({ code, stderr }).toEqual({ code: 0, stderr: TOLD });
      expect(stdout).toMatch(/1 added, 1 changed, 0 unchanged, 1 subscription not taken\n$/);
      expect(stdout + stderr).not.toMatch(/Sita|9800000101/);
    }
  });

  test("is in the report in JSON", async () => {
    const line = await bookLine();
    const { stdout } = await line.run("import", "customers", "file.ndjson", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ accepted: 2, passedOver: 1, moreNotTaken: 0 },
      notTaken: [{ line: 2, cuid: SITA.cuid, service: "internet", code: "NET-1M" }],
    });
  });

  test("is named up to a limit, beyond which the others are counted", async () => {
    const line = await historyLine(makeSqliteDatabase);
    line.write("file.ndjson", `${JSON.stringify(rowOf(SITA.cuid))}\n`.repeat(1_002));
    const { stdout, stderr } = await line.run("import", "customers", "file.ndjson");
    expect(stdout).toContain("1002 subscriptions not taken");
    const told = stderr.split("\n");
    expect(told).toHaveLength(1_002);
    expect(told.at(-2)).toBe("and 2 more subscriptions are not taken");
  });
});
