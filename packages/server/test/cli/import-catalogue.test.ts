import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { CATALOGUE } from "../support/provider-files.ts";

/** Each on a line of its own, after one good line. */
const BAD_LINES = [
  { service: "tv", code: "TV-1M", name: "Family TV", price: 450 },
  { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY) (YEARLY)", price: 450 },
  { service: "radio", code: "R-1M", name: "Radio (MONTHLY)", price: 1 },
  { service: "tv", code: "TV-3M", name: "Family TV (QUARTERLY)", price: 4.505 },
  { service: "tv", code: "TV-3M", name: "Family TV (QUARTERLY)", price: 0 },
  { service: "tv", code: 7, name: "Family TV (QUARTERLY)", prize: 450 },
  '{"service":"tv"',
  "[]",
  { ...CATALOGUE[0], name: "Fiber again (MONTHLY)" },
  '{"service":"tv","service":"tv"}',
];

const SAID = [
  "line 2: name has no period",
  "line 3: name has more than one period",
  'line 4: service must be one of "tv", "internet", "iptv"',
  "line 5: price must be a plain decimal",
  "line 6: price must be more than zero",
  "line 7: code must be a string",
  "line 7: price is required",
  "line 7: prize is not a known field",
  "line 8: (line) is not JSON",
  "line 9: (line) is not a JSON object",
  "line 10: code stands on an earlier line already",
  "line 11: (line) ",
];

describe("topupd import catalogue", () => {
  test("publishes a file as the next revision", async () => {
    const line = commandLine();
    const file = line.ndjson("catalogue.ndjson", ...CATALOGUE);
    expect(await line.run("import", "catalogue", file)).toEqual({
      code: 0,
      stdout: "3 accepted, 0 rejected, as revision 1\n3 added, 0 changed, 0 unchanged, 0 removed\n",
      stderr: "",
    });
    expect(await line.run("import", "catalogue", file, "--json")).toEqual({
      code: 0,
      stdout:
        '{"accepted":3,"rejected":0,"added":0,"changed":0,"unchanged":3,"removed":0,"reorders":false,"revision":2,"refused":[],"moreRefused":0}\n',
      stderr: "",
    });
  });

  test("reports every bad line with its number, field and reason, and writes nothing", async () => {
    const line = commandLine();
    const file = line.ndjson("catalogue.ndjson", CATALOGUE[0] as object, ...BAD_LINES);
    const { code, stdout, stderr } = await line.run("import", "catalogue", file, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 0, rejected: 10, moreRefused: 0 });
    expect(JSON.parse(stdout).refused).toHaveLength(10);
    const said = stderr.trimEnd().split("\n");
    expect(said.at(-1)).toBe("topupd: nothing was written: mend these lines, or give --skip-invalid to leave them out");
    expect(said).toHaveLength(SAID.length + 1);
    for (const [index, beginning] of SAID.entries()) expect(said[index]?.slice(0, beginning.length)).toBe(beginning);

    const next = await line.mustRun("import", "catalogue", line.ndjson("good.ndjson", ...CATALOGUE), "--json");
    expect(JSON.parse(next)).toMatchObject({ accepted: 3, rejected: 0, revision: 1 });
  });

  test("with --skip-invalid, reports the bad lines and writes the others", async () => {
    const line = commandLine();
    const file = line.ndjson("catalogue.ndjson", CATALOGUE[0] as object, ...BAD_LINES.slice(0, 2));
    const { code, stdout, stderr } = await line.run("import", "catalogue", file, "--skip-invalid", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 1, rejected: 2, added: 1, revision: 1 });
    expect(stderr).toBe("line 2: name has no period\nline 3: name has more than one period\n");
  });

  test("with --skip-invalid and no good line, fails and writes nothing", async () => {
    const line = commandLine();
    const file = line.ndjson("catalogue.ndjson", "nonsense");
    const { code, stdout, stderr } = await line.run("import", "catalogue", file, "--skip-invalid", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 0, rejected: 1, added: 0 });
    expect(stderr).toMatch(/\ntopupd: nothing was written: the file holds no good line\n$/);
  });

  test("of an empty file fails, so that sales do not stop by mistake", async () => {
    const line = commandLine();
    expect(await line.run("import", "catalogue", line.ndjson("empty.ndjson", "", ""))).toEqual({
      code: 1,
      stdout: "0 accepted, 0 rejected\n0 added, 0 changed, 0 unchanged\n",
      stderr: "topupd: nothing was written: the file holds no good line\n",
    });
  });

  test.each(["catalogue", "customers"])("of a file of %s that is not there fails, and says so", async (what) => {
    const { code, stdout, stderr } = await commandLine().run("import", what, "missing.ndjson", "--json");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^topupd: missing\.ndjson cannot be read: ENOENT.*\n$/);
  });

  test("reads prices by the currency's own decimals", async () => {
    const line = commandLine();
    const file = line.ndjson("catalogue.ndjson", { ...CATALOGUE[0], price: "1130.5" });
    const yen = await line.run("import", "catalogue", file, "--currency-exponent", "0");
    expect(yen).toMatchObject({ code: 1 });
    expect(yen.stderr).toMatch(/^line 1: price must be .*\b0 decimals/);
    expect((await line.run("import", "catalogue", file, "--currency-exponent", "1")).code).toBe(0);
  });
});
