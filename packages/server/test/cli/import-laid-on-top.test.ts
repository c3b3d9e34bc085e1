import { expect, test } from "vitest";
import { historyLine } from "../support/history-line.ts";
import { SITA } from "../support/provider-files.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const [FIBER] = SITA.connections.internet;
const LATER = { code: "NET-1M", startdate: "2026-01-31 10:00:00", enddate: "2027-12-31 10:00:00" };

async function lineWithFile() {
  const line = await historyLine(makeSqliteDatabase);
  const connections = { ...SITA.connections, internet: [{ ...FIBER, subscriptions: [LATER] }] };
  line.write("file.ndjson", `${JSON.stringify({ ...SITA, connections })}\n`);
  return line;
}

test("whoever does not say what dates hold is told that top-ups came on top of them", async () => {
  const line = await lineWithFile();
  const words = (were: string) =>
    `what was topped up here on 1 subscription ${were} laid on top of the file's dates, since nobody said whether these hold it: give --top-ups included where they do, or --top-ups apart where they do not\n`;
  const dry = await line.run("import", "customers", "file.ndjson", "--dry-run");
  expect(dry).toMatchObject({ code: 0, stderr: words("would be") });
  const json = await line.run("import", "customers", "file.ndjson", "--dry-run", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ laidOnTop: 1 });
  const done = await line.run("import", "customers", "file.ndjson");
  expect(done).toMatchObject({ code: 0, stderr: words("was") });
});

test.each(["included", "apart"])("whoever says %s is not", async (topUps) => {
  const line = await lineWithFile();
  const { code, stderr } = await line.run("import", "customers", "file.ndjson", "--top-ups", topUps);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
