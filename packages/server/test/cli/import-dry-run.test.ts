import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { addCatalogue, CATALOGUE, customersFound, SITA } from "../support/provider-files.ts";

const [FIRST, ...OTHERS] = CATALOGUE as [{ service: string; code: string; price: unknown }, ...object[]];

describe("topupd import --dry-run", () => {
  test("tells each customer that would be added or changed, and writes none of it", async () => {
    const line = commandLine();
    await addCatalogue(line);
    await line.mustRun("import", "customers", line.ndjson("before.ndjson", SITA));
    const file = line.ndjson("after.ndjson", SITA, { ...SITA, last_name: "Lama" }, { ...SITA, cuid: "7" });
    expect(await line.run("import", "customers", file, "--dry-run")).toEqual({
      code: 0,
      stdout:
        "line 2: 2000001 changed: profile\nline 3: 7 added\n3 accepted, 0 rejected\nit would be: 1 added, 1 changed, 1 unchanged\n",
      stderr: "",
    });
    expect(await customersFound(line, "7")).toEqual([]);
    const report = JSON.parse(await line.mustRun("import", "customers", file, "--dry-run", "--json"));
    expect(report).toEqual({
      ...{ passedOver: 0, laidOnTop: 0, notTaken: [], moreNotTaken: 0 },
      ...{ accepted: 3, rejected: 0, added: 1, changed: 1, unchanged: 1, refused: [], moreRefused: 0 },
      ...{ dryRun: true, moreChanges: 0 },
      changes: [
        { what: "customer", line: 2, cuid: "2000001", kind: "changed", parts: ["profile"] },
        { what: "customer", line: 3, cuid: "7", kind: "added", parts: [] },
      ],
    });
  });

  test("tells what would become of each bouquet, and publishes no revision", async () => {
    const line = commandLine();
    await addCatalogue(line);
    const dearer = { ...FIRST, price: "9999.50" };
    const added = { service: "tv", code: "NEW", name: "New (MONTHLY)", price: 1 };
    const file = line.ndjson("next.ndjson", dearer, ...OTHERS.slice(1), added);
    const { code, stdout } = await line.run("import", "catalogue", file, "--dry-run");
    expect(code).toBe(0);
    const [changed, came, went, , counts] = stdout.split("\n");
    expect(changed).toBe(`${FIRST.service} ${FIRST.code} changed: price ${Number(FIRST.price)} -> 9999.5`);
    expect(came).toBe("tv NEW added");
    expect(went).toMatch(/ removed$/);
    expect(counts).toBe(`it would be: 1 added, 1 changed, ${CATALOGUE.length - 2} unchanged, 1 removed`);
    const published = JSON.parse(await line.mustRun("import", "catalogue", file, "--json"));
    expect(published).toMatchObject({ added: 1, changed: 1, removed: 1, revision: 2 });
  });

  test("refuses a bad line as an import does", async () => {
    const line = commandLine();
    await addCatalogue(line);
    const file = line.ndjson("bad.ndjson", SITA, {});
    const { code, stdout, stderr } = await line.run("import", "customers", file, "--dry-run");
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: "0 accepted, 1 rejected\nit would be: 0 added, 0 changed, 0 unchanged\n",
    });
    expect(stderr).toMatch(/^line 2: cuid is required\n[\s\S]*topupd: nothing would be written: mend these lines/);
  });

  test("makes no database where there is none", async () => {
    const line = commandLine();
    const { code } = await line.run("import", "catalogue", line.ndjson("c.ndjson", ...CATALOGUE), "--dry-run");
    expect(code).toBe(1);
    expect(existsSync(join(line.folder, "topupd.db"))).toBe(false);
  });
});
