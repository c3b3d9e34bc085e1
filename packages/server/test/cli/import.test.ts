import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listRuns } from "../../src/office/imports/runs.ts";
import { buy, filledLine, type OfficeLine, officeLine, SITA_NET } from "../support/office-line.ts";
import { CATALOGUE, realFile, SITA } from "../support/provider-files.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const [FIRST, ...OTHERS] = CATALOGUE as [{ service: string; code: string; name: string; price: unknown }, ...object[]];

/** A customer with one internet connection. */
function customer(cuid: string, enddate?: string) {
  const subscriptions = enddate === undefined ? [] : [{ code: "NET-1M", startdate: "2026-11-10 10:00:00", enddate }];
  const internet = [{ username: `net-${cuid}`, status: "active", subscriptions }];
  return { cuid, first_name: "Maya", last_name: "Rai", status: "active", connections: { internet } };
}

/** Imports rows; the words after the file. */
function importRows(line: OfficeLine, rows: readonly object[], ...words: readonly string[]) {
  return line.run("import", "customers", line.ndjson("rows.ndjson", ...rows), ...words);
}

const asOf = (line: OfficeLine) => ["--as-of", new Date(line.now - MINUTE_MS).toISOString()];

describe("topupd import customers", () => {
  test("says what was done, and the same file again changes nothing", async () => {
    const line = await filledLine();
    const [code, stderr] = [0, ""];
    expect(await importRows(line, [SITA, customer("7")])).toEqual({
      ...{ code, stderr },
      stdout: "2 accepted, 0 rejected, 1 added, 0 changed, 1 unchanged, 0 held back\n",
    });
    expect(await importRows(line, [SITA, customer("7")], "--json")).toEqual({
      ...{ code, stderr },
      stdout: `${JSON.stringify({ accepted: 2, rejected: 0, added: 0, changed: 0, unchanged: 2, heldBack: 0, goodwillUnclear: 0 })}\n`,
    });
  });

  test("reads stdin as -, such as what topupd export writes, which changes nothing", async () => {
    const line = await filledLine();
    line.stdin = await line.mustRun("export", "customers");
    expect(await line.run("import", "customers", "-")).toEqual({
      ...{ code: 0, stderr: "" },
      stdout: "1 accepted, 0 rejected, 0 added, 0 changed, 1 unchanged, 0 held back\n",
    });
    line.stdin = await line.mustRun("export", "catalogue");
    expect(await line.run("import", "catalogue", "-")).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(line.folder)).not.toContain("copy-of-stdin");
  });

  test("writes nothing of a file with a bad line (1), or all but that with --skip-invalid (3)", async () => {
    const line = await filledLine();
    const rows = [customer("7"), { ...customer("8"), status: "gone" }, { cuid: "9" }];
    const refused = await importRows(line, rows);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^line 2: status must be .*\nline 3: /);
    expect(refused.stderr).toMatch(
      /topupd: nothing was written: 2 lines cannot be read. Correct the file, or leave bad lines out: --skip-invalid\n$/,
    );
    expect((await line.run("customer", "show", "7")).code).toBe(1);
    const skipped = await importRows(line, rows, "--skip-invalid", "--json");
    expect(skipped).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/topupd: 2 lines rejected\n$/),
    });
    expect(JSON.parse(skipped.stdout)).toMatchObject({ accepted: 1, rejected: 2, added: 1 });
    expect((await importRows(line, [{ cuid: "9" }], "--skip-invalid")).stderr).toContain(
      "nothing was written: the file holds no good line",
    );
    expect(await importRows(line, [])).toMatchObject({
      code: 1,
      stderr: "topupd: nothing was written: the file holds no good line\n",
    });
    const another = { ...customer("8"), connections: { internet: [{ username: "SITA", status: "active" }] } };
    const conflict = await importRows(line, [another]);
    expect(conflict).toMatchObject({ code: 1, stderr: expect.stringMatching(/^line 1: .*\n.*holds no good line\n$/) });
  });

  test("wants --as-of once anything was topped up, and refuses one that cannot be (2)", async () => {
    const line = await filledLine();
    await buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
    const refused = async (...words: string[]) => {
      const { code, stdout, stderr } = await importRows(line, [SITA], ...words);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      return stderr;
    };
    expect(await refused()).toMatch(/^topupd: --as-of is needed, since customers were topped up here: /);
    expect(await refused("--as-of", "yesterday")).toContain("--as-of must be an instant such as 2026-11-23T02:00:00Z");
    const old = new Date(line.now - 36 * DAY_MS).toISOString();
    expect(await refused("--as-of", old)).toContain("--as-of is more than 35 days ago");
    const stale = await importRows(line, [SITA], "--as-of", old, "--old-records");
    expect(stale).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("1 row skipped: newer records were imported before"),
    });
  });

  test("holds back what would end a paid run (3), and names both ends and what to do", async () => {
    const line = await filledLine();
    await importRows(line, [customer("7", "2026-12-10 10:00:00")]);
    const txnId = await buy(line, { ...SITA_NET, cuid: "7", reqId: "net-7", partner: "wallet" }, "NET-1M");
    line.now += DAY_MS;
    const shorter = [customer("7", "2026-12-08 10:00:00")];
    const held = await importRows(line, shorter, ...asOf(line), "--json");
    expect(held).toEqual({
      code: 3,
      stdout: `${JSON.stringify({ accepted: 1, rejected: 0, added: 0, changed: 0, unchanged: 1, heldBack: 1, goodwillUnclear: 0 })}\n`,
      stderr: `line 1: 7 internet net-7 NET-1M is held back: the file ends it 2026-12-08 10:00:00, top-up ${txnId} runs to 2027-01-10 10:00:00. Fix the file, or reverse the top-up and import records from after that (or --allow-shorter 7)
topupd: 1 subscription held back
`,
    });
    const [run] = await line.inStore(({ store }) => listRuns(store.engine.db));
    expect(run).toMatchObject({ kind: "customers", outcome: "done", report: { heldBack: 1 } });
    expect(run?.file).toMatch(/^[^/]+\.ndjson$/);
    expect((await importRows(line, [customer("7")], ...asOf(line))).stderr).toContain(
      "the file does not have it, top-up",
    );
    const nearly = [customer("7", "2027-01-08 10:00:00")];
    expect(await importRows(line, nearly, ...asOf(line), "--tolerance-days=3")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("0 changed, 1 unchanged"),
    });
    const allowed = ["--allow-shorter=8", "--allow-shorter=7"];
    expect((await importRows(line, shorter, ...asOf(line), ...allowed)).code).toBe(0);
    expect(await line.mustRun("why", "net-7")).toContain("ends 2026-12-08 10:00:00");
  });

  test("holds back a row whose goodwill is unclear (3), until --goodwill or the row says it", async () => {
    const line = await filledLine();
    await importRows(line, [customer("7", "2026-12-10 10:00:00")]);
    await line.mustRun("subscription", "goodwill", "internet", "net-7", "--days", "2", "--reason", "outage");
    line.now += DAY_MS;
    const sold = customer("7", "2027-01-10 10:00:00");
    expect(await importRows(line, [sold], ...asOf(line))).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /^line 1: 7 internet net-7 NET-1M is held back, goodwill unclear \(2 days of goodwill, given 2026-\d\d-\d\d\): the file ends it 2027-01-10 10:00:00 if its records include that, 2027-01-12 10:00:00 if they lack it; here it runs to 2026-12-12 10:00:00\. Choose one with --goodwill held or lacking, or with the row's field goodwill\ntopupd: 1 subscription held back, 1 of these as goodwill unclear: use --goodwill held or lacking\n$/,
      ),
    });
    expect((await importRows(line, [sold], ...asOf(line), "--goodwill", "maybe")).code).toBe(2);
    expect((await importRows(line, [sold], ...asOf(line), "--goodwill", "held")).code).toBe(0);
    expect(await line.mustRun("why", "net-7")).toContain("The records hold goodwill; 2 days of it are in the end.");
    const former = await importRows(line, [customer("7", "2027-01-08 10:00:00")], ...asOf(line), "--goodwill", "held");
    expect(former.stderr).toContain(
      "2 days of goodwill run to 2027-01-10 10:00:00. If the records lack goodwill, use --goodwill lacking; otherwise fix the file (or --allow-shorter 7)\n",
    );
    line.now += DAY_MS;
    const own = { ...customer("7", "2027-02-10 10:00:00"), goodwill: "lacking" };
    expect((await importRows(line, [own], ...asOf(line), "--goodwill", "held")).code).toBe(0);
    expect(await line.mustRun("why", "net-7")).toContain("ends 2027-02-12 10:00:00");
  });

  test("is refused whole where it would change too much (1), unless that is meant", async () => {
    const line = await filledLine();
    const [running, ended] = ["2026-12-10 10:00:00", "2026-11-20 10:00:00"];
    const rows = (end: string) => Array.from({ length: 9 }, (_, index) => customer(`1${index}`, end));
    await importRows(line, rows(running));
    const refused = await importRows(line, rows(ended));
    expect(refused).toEqual({
      ...{ code: 1, stdout: "" },
      stderr:
        "topupd: nothing was written: it would be 9 of 9 running subscriptions ended. If that is meant, give --allow-large-change\n",
    });
    expect(await line.mustRun("why", "net-10")).toContain("ends 2026-12-10");
    expect((await importRows(line, rows(ended), "--allow-large-change")).code).toBe(0);
  });

  test("warns of a connection that is stated inactive while a subscription of it runs", async () => {
    const line = await filledLine();
    const row = customer("7", "2026-12-10 10:00:00");
    const internet = [{ ...row.connections.internet[0], status: "inactive" }];
    expect(await importRows(line, [{ ...row, connections: { internet } }])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^line 1: 7 internet net-7 is inactive in the file, but .* stays active: .*"blocked"\n$/,
      ),
    });
  });

  test("in a preview shows each changed value before and after, and writes none of it", async () => {
    const line = await filledLine();
    const moved = { ...SITA, last_name: "Lama", mobile: undefined };
    const { code, stdout, stderr } = await importRows(line, [moved, customer("7", "2026-12-10 10:00:00")], "--preview");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`line 1: 2000001 changed
  last_name: Rai -> Lama
  mobile: 9800000101 -> nothing
line 2: 7 added
  first_name: nothing -> Maya
  last_name: nothing -> Rai
  status: nothing -> active
  internet net-7: nothing -> active
  internet net-7: Fiber 100 Mbps: nothing -> NET-1M, 2026-11-10 10:00:00 to 2026-12-10 10:00:00
would be: 2 accepted, 0 rejected, 1 added, 1 changed, 0 unchanged, 0 held back
`);
    const json = JSON.parse((await importRows(line, [moved], "--preview", "--json")).stdout);
    expect(json).toMatchObject({ preview: true, changed: 1, changes: [{ line: 1, cuid: "2000001", kind: "changed" }] });
    expect(await line.mustRun("customer", "show", "2000001")).toContain("Sita Rai");
  });

  test("in a preview makes no database, and tells of a file that is not there", async () => {
    const line = officeLine();
    const dry = await importRows(line, [SITA], "--preview");
    expect(dry.code).toBe(1);
    const missing = await line.run("import", "customers", "missing.ndjson");
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^topupd: missing\.ndjson cannot be read: ENOENT/),
    });
  });

  test("reads CSV, where a connection without subscription columns keeps those it has", async () => {
    const line = await filledLine();
    const file = line.write(
      "c.csv",
      "cuid,first_name,last_name,mobile,status,service,connection,connection_status\n2000001,Sita,Lama,9800000101,active,internet,sita,active\n",
    );
    expect(await line.json("import", "customers", file)).toMatchObject({ accepted: 1, changed: 1 });
    expect(await line.json("import", "customers", file, "--preview")).toMatchObject({ unchanged: 1, changes: [] });
    const { connections } = await line.json("customer", "show", "sita");
    expect(connections[0].subscriptions).toMatchObject([{ end: "2026-02-28 10:00:00" }]);
  });
});

describe("topupd import catalogue", () => {
  test("publishes the next revision, and tells in a preview what it does to each bouquet", async () => {
    const line = await filledLine();
    const added = { service: "tv", code: "NEW", name: "New (MONTHLY)", price: 1 };
    const file = line.ndjson("next.ndjson", { ...FIRST, price: "9999.50" }, ...OTHERS.slice(1), added);
    expect(await line.run("import", "catalogue", file, "--preview")).toEqual({
      code: 0,
      stdout: `internet NET-1M changed
  price: 1130 -> 9999.5
tv NEW added
internet NET-3M removed
3 accepted, 0 rejected, 1 added, 1 changed, 1 unchanged, 1 removed
`,
      stderr: "This is a preview: nothing was changed.\n",
    });
    expect(await line.mustRun("import", "catalogue", file)).toBe(
      "3 accepted, 0 rejected, 1 added, 1 changed, 1 unchanged, 1 removed, as revision 2\n",
    );
    expect(await line.json("import", "catalogue", file)).toMatchObject({ revision: 3, unchanged: 3, bouquets: [] });
  });

  test("writes nothing of a file with a bad line (1), and publishes the others with --skip-invalid (3)", async () => {
    const line = officeLine();
    const file = line.ndjson("c.ndjson", FIRST, { ...FIRST, code: "X", name: "No period" });
    expect(await line.run("import", "catalogue", file)).toEqual({
      ...{ code: 1, stdout: "" },
      stderr:
        "topupd: line 2: name has no period\nnothing was written: 1 line cannot be read. Correct the file, or leave bad lines out: --skip-invalid\n",
    });
    expect(await line.run("import", "catalogue", file, "--skip-invalid")).toMatchObject({
      ...{ code: 3, stderr: "line 2: name has no period\ntopupd: 1 line rejected\n" },
    });
  });

  test("warns of a bouquet whose plan or kind is another one, since that reaches what was bought before", async () => {
    const line = await filledLine();
    const renamed = { ...FIRST, name: "Fibre 100 Mbps (MONTHLY)" };
    const { stderr } = await line.run("import", "catalogue", line.ndjson("n.ndjson", renamed, ...OTHERS));
    expect(stderr).toBe(
      'warning: internet NET-1M is of another plan now: to keep renewals with what was bought, name "plan": "Fiber 100 Mbps" in the row\n',
    );
  });
});

const [catalogue, customers] = [realFile("catalogue.ndjson"), realFile("customers.ndjson")];
const areHere = catalogue.exists && customers.exists;
if (!areHere)
  process.stderr.write("SKIPPED: the import of a real provider's files, which do not lie beside this repository\n");

test.skipIf(!areHere)("a real provider's files are imported whole, and again to the same", async () => {
  const line = officeLine({ env: { TOPUPD_TIME_ZONE: "Asia/Kathmandu" } });
  const imported = await line.json("import", "catalogue", catalogue.path);
  expect(imported).toMatchObject({ accepted: 48, rejected: 0, added: 48, revision: 1 });
  for (const effect of ["added", "unchanged"])
    expect(await line.json("import", "customers", customers.path)).toMatchObject({ accepted: 2000, [effect]: 2000 });
  expect(await line.json("check")).toMatchObject({ ok: true, wrong: [] });
});
