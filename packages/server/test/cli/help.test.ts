import { describe, expect, test } from "vitest";
import { SETTINGS } from "../../src/config.ts";
import { allCommands, examplesIn, helpOf, refusalOf } from "../support/command-tree.ts";
import { filledLine, officeLine } from "../support/office-line.ts";

const WIDTH = 80;

const commands = await allCommands();
const cases = commands.map((known) => [["topupd", ...known.words].join(" "), known] as const);

/*
 * Whoever adds a command finds here what its help wants: a description of it, its arguments and flags, and examples; a
 * command of the first rank, a heading in faces/cli/program.ts.
 */
describe.each(cases)("%s --help", (name, { words, command, isGroup }) => {
  test("fits a terminal of 80 columns", async () => {
    const lines = (await helpOf(words)).split("\n");
    expect(lines.filter((line) => line.length > WIDTH)).toEqual([]);
    expect(lines.filter((line) => /\s$/.test(line))).toEqual([]);
    expect(lines.slice(-2)).toEqual([expect.stringMatching(/\S/), ""]);
    expect(lines.filter((line) => /^ {2}help\b/.test(line))).toEqual([]);
  });

  test("describes the command, every argument and every flag, each without a full stop", () => {
    const said = new Map<string, string>([
      [name, command.description()],
      ...command.registeredArguments.map((each) => [`the argument ${each.name()}`, each.description] as const),
      ...command.options.map((each) => [`the flag ${each.long}`, each.description] as const),
    ]);
    const lacking = [...said].filter(([, description]) => !/^\S.*[^\s.]$/s.test(description)).map(([what]) => what);
    expect(lacking, "has no description, or one that ends in a full stop").toEqual([]);
  });

  test("ends with examples of this very command that would be taken", async () => {
    const examples = examplesIn(await helpOf(words));
    expect(examples, `give ${name} examples`).not.toEqual([]);
    for (const example of examples) {
      expect(example.slice(0, words.length), example.join(" ")).toEqual(words);
      expect(await refusalOf(example), example.join(" ")).toBeUndefined();
    }
  });

  test("keeps the settings that many commands have apart from the command's own flags", () => {
    const settings = Object.values(SETTINGS).map(({ flag }) => `--${flag}`);
    const mixed = command.options.filter(
      ({ long, helpGroupHeading }) => settings.includes(long ?? "") === (helpGroupHeading === undefined),
    );
    expect(mixed.map(({ long }) => long)).toEqual([]);
  });

  test("misspelt, names what was meant, and of a choice all that there are", async () => {
    for (const child of isGroup ? command.commands : [])
      expect(await refusalOf([...words, `${child.name()}x`])).toMatch(`(Did you mean ${child.name()}?)`);
    const [good = []] = isGroup ? [] : examplesIn(await helpOf(words));
    for (const { long, argChoices } of isGroup ? [] : command.options) {
      expect(await refusalOf([...good, `${long}x`])).toMatch(`(Did you mean ${long}?)`);
      const said = argChoices === undefined ? "" : await refusalOf([...good, long ?? "", `${argChoices[0]}x`]);
      for (const choice of argChoices ?? []) expect(said).toContain(choice);
    }
  });
});

test("topupd --help lists every command under a heading that says what it is for", async () => {
  const headings = commands[0]?.command.commands.map((command) => [command.name(), command.helpGroup()]) ?? [];
  expect(headings.length).toBeGreaterThan(10);
  expect(headings.filter(([, heading]) => !/^[A-Z].*:$/.test(heading ?? ""))).toEqual([]);
  expect(await helpOf([])).not.toMatch(/^Commands:$/m);
});

test("the help of serve names the flag, the variable and the default of every setting", async () => {
  const help = (await helpOf(["serve"])).replace(/\s+/g, " ");
  for (const { flag, placeholder, fallback, env } of Object.values(SETTINGS)) {
    expect(help).toContain(`--${flag} <${placeholder}>`);
    expect(help).toContain(fallback === undefined ? `(env: ${env})` : `(default: ${fallback}, env: ${env})`);
  }
});

test("the help of import customers tells the exit codes", async () => {
  expect((await helpOf(["import", "customers"])).replace(/\s+/g, " ")).toContain(
    "Exit codes: 0 all lines were imported; 1 nothing was written; 2 wrong usage; 3 imported, but lines were rejected or subscriptions held back.",
  );
});

test.each([[], ["serve"], ["transaction"], ["transaction", "list"]])(
  "topupd help %s %s prints the same as --help",
  async (...words) => {
    expect(await officeLine().mustRun("help", ...words)).toBe(await officeLine().mustRun(...words, "--help"));
  },
);

test("--version prints the version alone", async () => {
  expect(await officeLine().mustRun("--version")).toBe("0.0.0\n");
});

/** Commands that are called wrongly, and what each says. */
const WRONG: readonly (readonly [command: string, said: RegExp])[] = [
  ["sell", /unknown command 'sell'/],
  ["serv", /unknown command 'serv'\n\(Did you mean serve\?\)\nSee topupd --help\n$/],
  ["token isue", /unknown command 'isue'\n\(Did you mean issue\?\)\nSee topupd token --help\n$/],
  ["serve --colour red", /unknown option '--colour'/],
  ["check --port 1", /unknown option '--port'/],
  ["partner add", /missing required argument 'NAME'\nSee topupd partner add --help\n$/],
  ["token issue --environment trial", /required option '--partner <PARTNER>' not specified/],
  ["token issue --partner wallet --environment staging", /'staging' is invalid.*trial, production/],
  ["customer show a b", /too many arguments/],
  ["transaction list --status paid", /'paid' is invalid.*success, reversed/],
  ["transaction list --from 2026-02-30", /--from must be a day such as 2026-11-20/],
  ["transaction list --cursor next", /--cursor must be the cursor of a page/],
  ["transaction list --limit 501", /--limit must be a number from 1 to 500/],
  ["transaction list --name a --cuid 1", /--name cannot be given with a cuid/],
  ["restore a --time-zone UTC", /unknown option '--time-zone'/],
  ["subscription goodwill tv 7 --days 367 --reason x", /--days must be a number from 1 to 366/],
  ["why radio sita", /SERVICE must be one of tv, internet, iptv: try topupd why internet maya.rai/],
  ["why internet", /missing required argument 'REQ-ID': try topupd why internet maya.rai/],
  ["why", /missing required argument 'REQ-ID'/],
  ["transaction reverse 1", /required option '--reason <REASON>' not specified/],
  ["connection block 00077 tv --reason x", /'00077' is invalid for argument 'SERVICE'.*tv, internet, iptv/],
  ["prune", /required option '--older-than <OLDER-THAN>' not specified/],
  ["prune --older-than 61d", /--older-than must be at least 62 days/],
  ["prune --older-than 7", /--older-than must be an age such as 7y, 18m or 400d/],
  ["serve --port", /option '--port <NUMBER>' argument missing/],
  ["import customers c.ndjson --tolerance-days 0", /'0' is invalid. It must be a whole number from 1 to 31/],
  ["", /Usage: topupd/],
  ["token", /Usage: topupd token [\s\S]*\n {2}issue .*\n[\s\S]*\n {2}revoke /],
];

test("a command that is called wrongly says so on stderr alone, with exit code 2", async () => {
  const line = await filledLine();
  for (const [command, said] of WRONG) {
    const words = command.split(" ").filter((word) => word !== "");
    const wrong = { code: 2, stdout: "", stderr: expect.stringMatching(said) };
    expect(await line.run(...words), command).toEqual(wrong);
  }
});

test("bulk preview --help names every kind of line that a list can have", async () => {
  const help = (await helpOf(["bulk", "preview"])).replace(/\s+/g, " ");
  for (const kind of ["cuid service reqId", "segment NAME", "area NAME"]) expect(help).toContain(kind);
});
