import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { realFile } from "../support/provider-files.ts";

const catalogue = realFile("catalogue.ndjson");
const customers = realFile("customers.ndjson");
const areHere = catalogue.exists && customers.exists;

if (!areHere) {
  process.stderr.write("SKIPPED: the import of a real provider's files, which do not lie beside this repository\n");
}

describe.skipIf(!areHere)("a real provider's files", () => {
  test("are imported whole, and again to the same", async () => {
    const line = commandLine();
    const settings = ["--time-zone", "Asia/Kathmandu"];
    const imported = JSON.parse(await line.mustRun("import", "catalogue", catalogue.path, "--json", ...settings));
    expect(imported).toMatchObject({ accepted: 48, rejected: 0, added: 48, revision: 1 });
    for (const effect of ["added", "unchanged"]) {
      const { code, stdout, stderr } = await line.run("import", "customers", customers.path, "--json");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({ accepted: 2000, rejected: 0, [effect]: 2000 });
    }
    const checked = JSON.parse(await line.mustRun("check", "--json"));
    expect(checked).toMatchObject({ ok: true, wrong: [] });
  });

  test("name bouquets that no empty database knows", async () => {
    const line = commandLine();
    const { code, stdout, stderr } = await line.run("import", "customers", customers.path, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 0, rejected: expect.any(Number) });
    expect(stderr).toMatch(/^line 1: connections\.tv\[0\]\.subscriptions\[0\]\.code is not .*\btv bouquet/);
  });
});
