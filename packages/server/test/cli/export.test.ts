import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buy, filledLine, type OfficeLine, rowsOf, SITA_NET } from "../support/office-line.ts";
import { CATALOGUE, SITA } from "../support/provider-files.ts";

/** A provider with a top-up, a retired bouquet that a customer has, and a name that a spreadsheet would run. */
async function history(): Promise<OfficeLine> {
  const line = await filledLine();
  await buy(line, { ...SITA_NET, partner: "wallet", udf1: "=1+1" }, "NET-3M");
  line.now += 61_000;
  await line.mustRun("import", "catalogue", line.ndjson("newer.ndjson", ...CATALOGUE.slice(1)));
  const bare = { ...SITA, cuid: "7", first_name: "=SUM(A1)", mobile: "+977 7", connections: {} };
  const asOf = new Date(line.now - 60_000).toISOString();
  await line.mustRun("import", "customers", line.ndjson("more.ndjson", bare), "--as-of", asOf);
  return line;
}

describe("topupd export", () => {
  test.each(["ndjson", "csv"])("in %s, imported elsewhere, gives the same customers and catalogue", async (format) => {
    const line = await history();
    const other = ["--database", "sqlite:./other.db"];
    for (const what of ["catalogue", "customers"]) {
      const file = `${what}-all.${format}`;
      expect(await line.mustRun("export", what, "--output", file)).toBe("");
      await line.mustRun("import", what, file, ...other);
      const report = await line.json("import", what, file, "--preview", ...other);
      expect(report).toMatchObject({ added: 0, changed: 0, rejected: 0 });
      await line.mustRun("export", what, "--output", `again-${file}`, ...other);
      expect(line.read(`again-${file}`)).toBe(line.read(file));
    }
    const shown = async (code: string, ...more: string[]) => {
      const { transactions: _, asOf: __, ...customer } = await line.json("customer", "show", code, ...more);
      return customer;
    };
    for (const code of [SITA.cuid, "7"]) expect(await shown(code, ...other)).toEqual(await shown(code));
    expect((await line.run("check", ...other)).code).toBe(0);
  });

  test("writes a file for its owner alone, and never in the place of another", async () => {
    const line = await history();
    const path = join(line.folder, "customers.csv");
    const written = { code: 0, stdout: "", stderr: "2 exported\n" };
    expect(await line.run("export", "customers", "--output", "customers.csv")).toEqual(written);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = readFileSync(path, "utf8");
    expect(before).toContain("'=SUM(A1)");
    expect(await line.run("export", "customers", "--output", "customers.csv")).toMatchObject({
      code: 1,
      stderr: "topupd: customers.csv exists already: name another file\n",
    });
    expect(readFileSync(path, "utf8")).toBe(before);
    const printed = await line.mustRun("export", "customers", "--output", "-");
    expect(printed).toBe(await line.mustRun("export", "customers"));
    expect(rowsOf(printed)).toHaveLength(2);
    expect((await line.run("export", "customers", "--output", "none/c.csv")).stderr).toContain(
      "cannot be written: ENOENT",
    );
  });

  test("of transactions tells all of each, and ends with the moment up to which it is complete", async () => {
    const line = await history();
    const [row, end] = rowsOf(await line.mustRun("export", "transactions"));
    expect(row).toMatchObject({
      ...{ status: "success", partner: "wallet", cuid: "2000001", reqId: "sita", bouquetId: "NET-3M" },
      amount: "3220.50",
      ...{ udf1: "=1+1", udf2: null, reversedAt: null, reversedBy: null, reversalReason: null },
    });
    const until = new Date(line.now - 60_000).toISOString();
    expect(end).toEqual({ complete_until: until });
    const csv = await line.run("export", "transactions", "--output", "t.csv");
    const [header, cells, last] = line.read("t.csv").split("\r\n");
    expect(header).toBe(Object.keys(row).join());
    expect(cells).toContain(",'=1+1,");
    expect(last).toBe("");
    expect(csv.stderr).toBe(`1 exported\ncomplete_until ${until}\n`);
  });

  test("of transactions has those that all flags fit, and tells how each was reversed", async () => {
    const line = await history();
    const exported = async (...words: string[]) => rowsOf(await line.mustRun("export", "transactions", ...words));
    const [row] = await exported("--req-id", "sita", "--udf1", "=1+1");
    expect(await exported("--status", "reversed")).toEqual([]);
    await line.mustRun("transaction", "reverse", row.txnId, "--reason", "paid twice");
    line.now += 61_000;
    const reversal = { txnId: row.txnId, reversedBy: "somebody", reversalReason: "paid twice" };
    expect(await exported("--status", "reversed")).toMatchObject([reversal]);
  });
});
