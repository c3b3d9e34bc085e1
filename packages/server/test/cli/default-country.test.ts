import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { SITA } from "../support/provider-files.ts";

const ASHA = { ...SITA, cuid: "7", mobile: "984-1000000", connections: {} };

describe("--default-country", () => {
  test("holds for every later command, and goes along with a copy and a backup", async () => {
    const line = commandLine();
    const [copy, restored] = ["sqlite:./copy.db", "sqlite:./restored.db"];
    await line.mustRun("import", "customers", line.ndjson("c.ndjson", ASHA), "--default-country", "NP");
    await line.mustRun("copy", "--from", "sqlite:./topupd.db", "--to", copy);
    await line.mustRun("backup", "provider.backup");
    await line.mustRun("restore", "provider.backup", "--database", restored);
    for (const database of ["sqlite:./topupd.db", copy, restored]) {
      const shown = await line.mustRun("customer", "show", "+977 9841000000", "--json", "--database", database);
      expect(JSON.parse(shown)).toMatchObject({ cuid: "7", mobile: "984-1000000" });
      await line.mustRun("check", "--database", database);
    }
  });

  test("other than the database's own is refused by name", async () => {
    const line = commandLine();
    await line.mustRun("import", "customers", line.ndjson("c.ndjson", ASHA));
    const { code, stderr } = await line.run("check", "--default-country", "NP");
    expect(code).toBe(2);
    expect(stderr).toBe(
      "topupd: --default-country (TOPUPD_DEFAULT_COUNTRY) is NP, but the database was filled with none: export all of it, and import it into a new one\n",
    );
    expect((await line.run("check", "--default-country", "np")).code).toBe(2);
  });
});
