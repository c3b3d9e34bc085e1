import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { askSecretly } from "../../src/faces/cli/terminal.ts";
import { listRuns } from "../../src/office/imports/runs.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { buy, filledLine, historyLine, officeLine, rowsOf, SITA_NET } from "../support/office-line.ts";
import { CATALOGUE, SITA } from "../support/provider-files.ts";

/* The shell's own part: what a transcript cannot show of a command. */

const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });

test.each([
  ["the user who called sudo", { SUDO_USER: "maya" }, [], "maya"],
  ["the user if sudo was not called", {}, [], "somebody"],
  ["the name after --as, before all others", { SUDO_USER: "maya" }, ["--as", "ramesh"], "ramesh"],
] as const)("the author of a change is %s", async (_, env, flags, author) => {
  const line = officeLine({ env: { ...env } });
  await line.mustRun("partner", "add", "wallet", ...flags);
  expect(await line.rows("audit", "list")).toMatchObject([{ author }]);
});

test("a change whose answer was lost says that it may have been done", async () => {
  const line = await historyLine();
  line.wrapStore = (store) => ({
    ...store,
    engine: { ...store.engine, transact: async () => Promise.reject(new StoreUnavailable("it was lost")) },
  });
  const days = ["--days", "3", "--reason", "outage"];
  expect(await line.run("subscription", "goodwill", "tv", "00077", ...days)).toEqual(
    failed("it was lost. It may have been done: check with topupd audit list"),
  );
});

test("a command that needs a database and finds none makes none", async () => {
  const line = officeLine();
  const report = "report settlement --from 2026-11-01 --to 2026-11-01";
  for (const command of ["check", "partner list", "token list", "customer show 7", report])
    expect(await line.run(...command.split(" "))).toEqual(
      failed(`there is no database at ${join(line.folder, "topupd.db")}`),
    );
  const preview = ["import", "customers", line.ndjson("c.ndjson", SITA), "--preview"];
  expect((await line.run(...preview)).code).toBe(1);
  expect(readdirSync(line.folder)).toEqual(["c.ndjson"]);
});

test("an import is remembered with the name of its file, without the folder", async () => {
  const line = await filledLine();
  await line.mustRun("import", "customers", join(line.folder, "customers.ndjson"));
  const [run] = await line.inStore(({ store }) => listRuns(store.engine.db));
  expect(run).toMatchObject({ file: "customers.ndjson", outcome: "done" });
});

test("an import from stdin leaves no copy of it", async () => {
  const line = await filledLine();
  line.stdin = await line.mustRun("export", "catalogue");
  expect(await line.run("import", "catalogue", "-")).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(line.folder)).not.toContain("copy-of-stdin");
});

test.each(["ndjson", "csv"])("an export in %s, imported elsewhere, gives the same provider", async (format) => {
  const line = await filledLine();
  await buy(line, { ...SITA_NET, partner: "wallet", udf1: "=1+1" }, "NET-3M");
  line.now += 61_000;
  // A retired bouquet that a customer has, and a name that a spreadsheet would run.
  await line.mustRun("import", "catalogue", line.ndjson("newer.ndjson", ...CATALOGUE.slice(1)));
  const bare = { ...SITA, cuid: "7", first_name: "=SUM(A1)", mobile: "+977 7", connections: {} };
  const asOf = ["--as-of", new Date(line.now - 60_000).toISOString()];
  await line.mustRun("import", "customers", line.ndjson("more.ndjson", bare), ...asOf);
  const other = ["--database", "sqlite:./other.db"];
  for (const what of ["catalogue", "customers"]) {
    const file = `${what}-all.${format}`;
    await line.mustRun("export", what, "--output", file);
    await line.mustRun("import", what, file, ...other);
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

test("events are followed as they happen, until a signal, and end with the cursor", async () => {
  const line = await filledLine();
  await line.mustRun("target", "add", "crm", "--kind", "feed");
  const topUp = () => buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
  await topUp();
  let stop: (name: string) => void = () => {};
  line.askedToStop = new Promise((resolve) => {
    stop = resolve;
  });
  const looks = [topUp, async () => {}, topUp, async () => stop("SIGTERM")];
  line.asleep = async () => {
    await looks.shift()?.();
  };
  const rows = rowsOf(await line.mustRun("events", "--target", "crm", "--follow"));
  expect(rows).toHaveLength(4);
  expect(rows[3]).toEqual({ cursor: rows[2].id });
  expect(looks).toEqual([]);
});

test("a bulk change that Ctrl-C leaves running says who continues it, and how it is stopped", async () => {
  const line = await filledLine();
  await line.mustRun("bulk", "preview", "block", line.write("list.txt", SITA.cuid), "--reason", "outage");
  line.askedToStop = Promise.resolve("SIGINT");
  expect(await line.run("bulk", "start", "1")).toMatchObject({
    stdout: expect.stringMatching(/ running +0 +[1-9]/),
    stderr: "A service with a console continues it: topupd bulk pause 1 stops it.\n",
  });
  expect(await line.run("bulk", "pause", "1")).toMatchObject({ code: 0, stderr: "" });
});

describe("a question for a password", () => {
  test("is asked twice at a terminal", async () => {
    const line = officeLine();
    const add = ["staff", "add", "ravi", "--role", "viewer"];
    const twice = "Password: Repeat it: ";
    line.typed = ["kettle orbit fjord", "kettle orbit fjords"];
    expect(await line.run(...add)).toEqual({
      ...{ code: 1, stdout: "", stderr: `${twice}topupd: the passwords differ: try again\n` },
    });
    line.typed = ["kettle orbit fjord", "kettle orbit fjord"];
    expect(await line.run(...add)).toMatchObject({ code: 0, stderr: twice });
  });

  test("is answered by a line, which is not shown", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answer = askSecretly("Password: ", input, output);
    input.write("wrongg\u007f\u007f\u007f\u007f\u007f\u007fright\r");
    expect(await answer).toBe("right");
    output.end();
    expect(await text(output)).toBe("Password: \n");
  });

  test("can be broken off", async () => {
    const input = new PassThrough();
    const answer = askSecretly("Password: ", input, new PassThrough());
    input.write("abc\u0003");
    await expect(answer).rejects.toThrow("nothing was changed");
  });
});
