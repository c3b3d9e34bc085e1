import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CommandLine, commandLine } from "../support/command-line.ts";
import { fillDatabase, SITA } from "../support/provider-files.ts";

/** On a disk that is full. */
const FULL = "exec >/dev/full";
/** Read by somebody who has seen enough after the first line. The exit code goes to stderr. */
const HEAD = '{ "$0" "$@"; echo "code $?" >&2; } | head -n 1; exit 0';
const NO_SPACE = "topupd: stdout cannot be written: ENOSPC: no space left on device, write\n";

/** A provider of whom more is to be told than a pipe holds. */
async function bigProvider(): Promise<CommandLine> {
  const line = commandLine();
  await fillDatabase(line);
  const customers = Array.from({ length: 2_000 }, (_, index) => ({
    ...{ ...SITA, cuid: `C${index}`, mobile: undefined, first_name: "A".repeat(80) },
    connections: { tv: [{ stb: `S${index}`, status: "inactive" }] },
  }));
  await line.mustRun("import", "customers", line.ndjson("many.ndjson", ...customers));
  return line;
}

describe("what is printed", () => {
  test("on a disk that is full ends in words and with 1, whichever command prints it", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const commands = [
      ["export", "customers"],
      ["export", "catalogue", "--format", "csv", "--output", "-"],
      ["audit", "export"],
      ["audit", "list"],
      ["partner", "list"],
      ["check"],
      ["--help"],
    ];
    for (const words of commands) {
      const run = await line.runLimited(FULL, ...words);
      expect(run, words.join(" ")).toEqual({ code: 1, stdout: "", stderr: NO_SPACE });
    }
  });

  test("for a reader who leaves ends without a word", async () => {
    const line = await bigProvider();
    for (const words of [
      ["export", "customers"],
      ["export", "customers", "--output", "-", "--format", "csv"],
      ["audit", "export"],
    ]) {
      const { stdout, stderr } = await line.runLimited(HEAD, ...words);
      expect(stdout.split("\n"), words.join(" ")).toHaveLength(2);
      expect(stderr).toBe("code 0\n");
    }
  });
});

/** Without the database's log and its index: SQLite has them until this process has let go of its last statement. */
function namesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => !/-(?:wal|shm)$/.test(name));
}

describe("the file -", () => {
  test("is stdout for an export, which names no file by it", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const before = namesIn(line.folder);
    const { code, stdout } = await line.run("export", "customers", "--output", "-");
    expect({ code, stdout }).toEqual({ code: 0, stdout: await line.mustRun("export", "customers") });
    expect(namesIn(line.folder)).toEqual(before);
  });

  test("is refused by a backup, and by whatever reads a file", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const before = namesIn(line.folder);
    const said = "topupd: a backup goes into a file, which has its name once it is whole\n";
    expect(await line.run("backup", "-")).toEqual({ code: 2, stdout: "", stderr: said });
    for (const words of [
      ["import", "customers", "-"],
      ["import", "catalogue", "-"],
      ["restore", "--dry-run", "-"],
      ["reconcile", "-", "--partner", "wallet", "--from", "2026-11-01", "--to", "2026-11-01"],
    ]) {
      const { code, stdout, stderr } = await line.run(...words);
      expect({ code, stdout }, words.join(" ")).toEqual({ code: 1, stdout: "" });
      expect(stderr).toBe("topupd: - cannot be read: stdin is not read, name a file\n");
    }
    expect(namesIn(line.folder)).toEqual(before);
  });
});
