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

/** Prints all customers into the command. */
const EXPORT_INTO = '"$0" "$1" export customers | "$0" "$@"; exit $?';

test("what is exported can be imported through a pipe, and changes nothing", async () => {
  const line = await bigProvider();
  const stdout =
    "2001 accepted, 0 rejected, 0 added, 0 changed, 2001 unchanged, 0 held back, 0 running subscriptions ended\n";
  expect(await line.runLimited(EXPORT_INTO, "import", "customers", "-")).toEqual({
    code: 0,
    stdout,
    stderr: "2001 exported\n",
  });
});

test("the file - is stdin for imports alone", async () => {
  const stderr = "topupd: - cannot be read: stdin cannot be used here: name a file\n";
  expect(await commandLine().run("restore", "-")).toEqual({ code: 1, stdout: "", stderr });
});
