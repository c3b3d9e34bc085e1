import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { SETTINGS } from "../../src/config.ts";
import { commandLine } from "../support/command-line.ts";
import { allCommands, examplesIn, helpOf, refusalOf } from "../support/command-tree.ts";

const WIDTH = 80;

const commands = allCommands();
const cases = commands.map((known) => [["topupd", ...known.words].join(" "), known] as const);

/** A value that a flag takes, so far as commander looks at it. */
function aValueOf({ options }: Command, flag: string): string {
  return options.find(({ long }) => long === flag)?.argChoices?.[0] ?? "x";
}

/*
 * Whoever adds a command finds here what its help wants: `.description()` for it, its arguments and flags, and
 * `examples(command, [...])` of cli/help.ts; a command of the first rank, a heading in cli/program.ts.
 */
describe.each(cases)("%s --help", (name, { words, command, isGroup }) => {
  test("fits a terminal of 80 columns", async () => {
    const lines = (await helpOf(words)).split("\n");
    expect(lines.filter((line) => line.length > WIDTH)).toEqual([]);
    expect(lines.filter((line) => /\s$/.test(line))).toEqual([]);
    expect(lines.slice(-2)).toEqual([expect.stringMatching(/\S/), ""]);
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

  test("begins with how the command is called, its mandatory flags included", async () => {
    const usage = (await helpOf(words)).split("\n\n")[0]?.replace(/\s+/g, " ") ?? "";
    expect(usage.startsWith(`Usage: ${name} `)).toBe(true);
    if (isGroup) expect(usage).toBe(`Usage: ${name} <COMMAND>`);
    const names = command.registeredArguments.map((each) => each.name());
    expect(names.filter((each) => !usage.includes(each))).toEqual([]);
    // What it tells to give is enough, if each thing is given.
    const told = usage.replace(/^Usage: topupd /, "").replace(" [options]", "");
    const called = told.replace(/(--[a-z-]+) <[A-Z]+>/g, (_, flag: string) => `${flag} ${aValueOf(command, flag)}`);
    if (!isGroup) expect(await refusalOf(called.split(" "))).toBeUndefined();
  });

  test("lists no command that only repeats --help", async () => {
    expect(await helpOf(words)).not.toMatch(/^ {2}help\b/m);
  });

  test("ends with examples of this very command that would be taken", async () => {
    const examples = examplesIn(await helpOf(words));
    expect(examples, `give ${name} examples(command, [...])`).not.toEqual([]);
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
});

describe("topupd --help", () => {
  test("lists every command under a heading that says what it is for", async () => {
    const [program] = commands;
    const headings = program?.command.commands.map((command) => [command.name(), command.helpGroup()]) ?? [];
    expect(headings.length).toBeGreaterThan(10);
    expect(headings.filter(([, heading]) => !/^[A-Z].*:$/.test(heading ?? ""))).toEqual([]);
    expect(await helpOf([])).not.toMatch(/^Commands:$/m);
  });

  test("goes to stdout, and is a success", async () => {
    const { code, stdout, stderr } = await commandLine().run("token", "issue", "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(await helpOf(["token", "issue"]));
  });
});

describe("the help of serve", () => {
  test("names the flag, the variable and the default of every setting", async () => {
    const help = (await helpOf(["serve"])).replace(/\s+/g, " ");
    for (const { flag, placeholder, fallback, env } of Object.values(SETTINGS)) {
      expect(help).toContain(`--${flag} <${placeholder}>`);
      expect(help).toContain(fallback === undefined ? `(env: ${env})` : `(default: ${fallback}, env: ${env})`);
    }
  });
});

test("--version prints the version alone", async () => {
  expect(await commandLine().mustRun("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
});
