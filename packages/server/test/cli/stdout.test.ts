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
      ["export", "catalogue"],
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
    const { stdout, stderr } = await line.runLimited(HEAD, "export", "customers");
    expect(stdout.split("\n")).toHaveLength(2);
    expect(stderr).toBe("code 0\n");
  });
});

test("the file - is not stdin", async () => {
  const stderr = "topupd: - cannot be read: stdin is not read, name a file\n";
  expect(await commandLine().run("import", "catalogue", "-")).toEqual({ code: 1, stdout: "", stderr });
});
