import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { allCommands, examplesIn, helpOf, refusalOf } from "../support/command-tree.ts";

const WRONG: readonly (readonly [command: string, said: RegExp])[] = [
  ["sell", /unknown command 'sell'/],
  ["partner remove", /unknown command 'remove'/],
  ["serv", /unknown command 'serv'\n\(Did you mean serve\?\)\nUsage: topupd <COMMAND>\nSee topupd --help\n$/],
  ["token isue", /unknown command 'isue'\n\(Did you mean issue\?\)\nUsage: topupd token <COMMAND>\n/],
  ["token issue --partnr x", /unknown option '--partnr'\n\(Did you mean --partner\?\)/],
  ["token issue --partner x --enviroment trial", /unknown option '--enviroment'\n\(Did you mean --environment\?\)/],
  ["serve --colour red", /unknown option '--colour'/],
  ["check --port 1", /unknown option '--port'/],
  [
    "partner add",
    /missing required argument 'NAME'\nUsage: topupd partner add <NAME> \[options\]\nSee topupd partner add --help\n$/,
  ],
  ["partner suspend", /missing required argument 'NAME'/],
  ["token revoke", /missing required argument 'ID'/],
  ["token issue --environment trial", /required option '--partner <NAME>' not specified/],
  ["token issue --partner wallet", /required option '--environment <ENVIRONMENT>' not specified/],
  ["token issue --partner wallet --environment staging", /'staging' is invalid.*trial, production/],
  ["customer show", /missing required argument 'CODE'/],
  ["customer show a b", /too many arguments/],
  ["transaction show", /missing required argument 'ID'/],
  ["transaction list --status paid", /'paid' is invalid.*success, reversed/],
  ["transaction list --from 2026-02-30", /--from must be a day such as 2026-11-20/],
  ["transaction list --cursor next", /--cursor must be the txnId of the last top-up that was listed/],
  ["transaction list --limit 1001", /--limit must be a whole number from 1 to 1000, but is "1001"/],
  ["why internet", /missing required argument 'REQID'/],
  ["why 00077 tv", /try topupd why tv 00077/],
  ["import catalogue", /missing required argument 'FILE'/],
  ["import customers a.ndjson --environment test", /'test' is invalid.*trial, production/],
  ["backup", /missing required argument 'FILE'/],
  ["backup --to a", /unknown option '--to'/],
  ["restore", /missing required argument 'FILE'/],
  ["restore a --time-zone UTC", /unknown option '--time-zone'/],
  ["serve --port", /option '--port <NUMBER>' argument missing/],
  ["serve now", /too many arguments/],
  ["partner add one two", /too many arguments/],
  ["", /Usage: topupd/],
  ["partner", /Usage: topupd partner/],
  ["token", /Usage: topupd token <COMMAND>[\s\S]*\n {2}issue .*\n[\s\S]*\n {2}revoke <ID> /],
  ["import", /Usage: topupd import/],
  ["customer", /Usage: topupd customer/],
  ["transaction", /Usage: topupd transaction/],
];

describe("a command that is called wrongly", () => {
  test("is told so on stderr alone, with exit code 2, and makes no database", async () => {
    const line = commandLine();
    const wordsOf = (command: string) => command.split(" ").filter((word) => word !== "");
    const runs = await Promise.all(WRONG.map(([command]) => line.run(...wordsOf(command))));
    for (const [index, { code, stdout, stderr }] of runs.entries()) {
      const [command, said] = WRONG[index] ?? [];
      expect({ command, code, stdout, stderr }).toEqual({
        command,
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(said ?? ""),
      });
    }
    expect(readdirSync(line.folder)).toEqual([]);
  });

  test("a name that no partner may have is refused", async () => {
    const line = commandLine();
    const names = ["", " wallet", "wallet ", "a\tb", "x".repeat(65)];
    const runs = await Promise.all(names.map((name) => line.run("partner", "add", name)));
    const stderr = "topupd: NAME must have 1 to 64 characters, and no blank at either end\n";
    expect(runs).toEqual(names.map(() => ({ code: 2, stdout: "", stderr })));
    expect(readdirSync(line.folder)).toEqual([]);
  });
});

/* For every command that there is, whoever adds one. */
const everyCommand = allCommands().map((known) => [["topupd", ...known.words].join(" "), known] as const);

test.each(everyCommand.filter(([, { isGroup }]) => isGroup))(
  "%s with a misspelt command names the one that was meant",
  async (_name, { words, command }) => {
    // With a letter too many: one that is cut short may be nearer to another.
    for (const child of command.commands)
      expect(await refusalOf([...words, `${child.name()}x`])).toMatch(`(Did you mean ${child.name()}?)`);
  },
);

test.each(everyCommand.filter(([, { isGroup }]) => !isGroup))(
  "%s with a misspelt flag names the one that was meant, and with a misspelt choice all that there are",
  async (_name, { words, command }) => {
    const [good = []] = examplesIn(await helpOf(words));
    for (const { long, argChoices } of command.options) {
      expect(await refusalOf([...good, `${long}x`])).toMatch(`(Did you mean ${long}?)`);
      if (argChoices === undefined) continue;
      const said = await refusalOf([...good, long ?? "", `${argChoices[0]}x`]);
      for (const choice of argChoices) expect(said).toContain(choice);
    }
  },
);
