import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { firstRunTools } from "../../src/faces/cli/first-run-tools.ts";
import { askOpenly } from "../../src/faces/cli/terminal.ts";

/** A process of a user, which records whom it becomes. */
function processOf(euid: number, hasServiceUser: boolean) {
  const became: unknown[] = [];
  const record = (name: string) => (value: unknown) => {
    became.push([name, value]);
    if (!hasServiceUser) throw Object.assign(new Error("none"), { code: "ERR_UNKNOWN_CREDENTIAL" });
    return 0o022;
  };
  const names = ["setgroups", "setegid", "seteuid", "umask"];
  const own = { geteuid: () => euid, getgroups: () => [0], ...Object.fromEntries(names.map((n) => [n, record(n)])) };
  return { became, tools: firstRunTools(own as unknown as NodeJS.Process) };
}

test("root does the work as the service's user, and is root again afterwards, also after a failure", async () => {
  const { became, tools } = processOf(0, true);
  const work = tools.asServiceUser(async () => {
    became.push("work");
    throw new Error("it failed");
  });
  await expect(work).rejects.toThrow("it failed");
  expect(became).toEqual([
    ...[["setgroups", ["topupd"]], ["setegid", "topupd"], ["seteuid", "topupd"], ["umask", 0o077], "work"],
    ...[
      ["umask", 0o022],
      ["seteuid", 0],
      ["setegid", 0],
      ["setgroups", [0]],
    ],
  ]);
});

test("others, and root where there is no such user, do the work as themselves", async () => {
  const user = processOf(1000, true);
  expect(await user.tools.asServiceUser(async () => "done")).toBe("done");
  expect([user.became, user.tools.hasSystemd]).toEqual([[], false]);
  const root = processOf(0, false);
  expect(await root.tools.asServiceUser(async () => "done")).toBe("done");
  expect(root.became).toEqual([["setgroups", ["topupd"]]]);
});

test("a question shows its answer, and ends with the command if the person cancels", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const asked = askOpenly("Name: ", input, output);
  input.write("Maya\n");
  expect(await asked).toBe("Maya");
  const cancelled = askOpenly("Name: ", input, output);
  input.end();
  await expect(cancelled).rejects.toThrow("cancelled: run topupd setup again to continue");
  output.end();
  expect(await text(output)).toContain("Name: ");
});
