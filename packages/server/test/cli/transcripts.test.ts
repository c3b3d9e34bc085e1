import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allCommands, shellWords } from "../support/command-tree.ts";
import { buy, historyLine, kathmandu, type OfficeLine, SITA_NET, WALLET } from "../support/office-line.ts";
import { tamper } from "../support/sqlite-database.ts";
import { expectTranscript } from "../support/transcript.ts";

/*
 * What every command prints and how it ends. `$ topupd ...` runs a command, `< FILE` gives it a file as stdin; stderr is
 * marked with `!`. `at TIME` sets the clock, `buy SERVICE REQID BOUQUET UDF1` tops up as a partner, `>> FILE LINE` adds a
 * line to a file, `cat FILE` prints one, `sql STATEMENT` damages the database.
 */

const FOLDER = fileURLToPath(new URL("transcripts/", import.meta.url));

/** Commands that serve, and those whose test is a file of its own. */
const ELSEWHERE = ["serve", "demo", "help"];

async function play(line: OfficeLine, command: string): Promise<string> {
  const [verb = "", ...words] = shellWords(command);
  const rest = command.slice(verb.length + 1);
  if (verb === "at") line.now = kathmandu(rest);
  else if (verb === "buy") return buyAs(line, words);
  else if (verb === ">>") appendFileSync(join(line.folder, words[0] ?? ""), `${/^\S+ ?(.*)$/.exec(rest)?.[1]}\n`);
  else if (verb === "cat") return line.read(rest).replaceAll("\r\n", "\n");
  else if (verb === "sql") tamper(join(line.folder, "topupd.db"), rest);
  else return run(line, words.slice(1));
  return "";
}

async function buyAs(line: OfficeLine, [service = "", reqId = "", bouquet = "", udf1]: readonly string[]) {
  const partner = WALLET;
  return `${await buy(line, { ...SITA_NET, service: service as "internet", reqId, partner, udf1 }, bouquet)}\n`;
}

async function run(line: OfficeLine, words: readonly string[]): Promise<string> {
  const input = words.at(-2) === "<" ? words.at(-1) : undefined;
  line.stdin = input === undefined ? "" : line.read(input);
  const { code, stdout, stderr } = await line.run(...words.slice(0, input === undefined ? undefined : -2));
  // The folder has another name each time, and versions of Node compress differently.
  const plain = stderr.replaceAll(`${line.folder}/`, "").replace(/(?<= has )\d+ bytes/, "some bytes");
  const marked = plain.replace(/^(?=.)/gm, "! ");
  return `${stdout.replace(/(?<="bytes":)\d+/, "1")}${marked}${code === 0 ? "" : `exit code ${code}\n`}`;
}

const files = readdirSync(FOLDER);
const played: string[] = [];

test.each(files)("%s", async (file) => {
  const line = await historyLine();
  played.push(...(await expectTranscript(join(FOLDER, file), (command) => play(line, command))));
});

test("a transcript has every command", async () => {
  const leaves = (await allCommands()).filter(({ isGroup }) => !isGroup).map(({ words }) => words.join(" "));
  const lacking = leaves.filter((words) => !played.some((line) => `${line} `.startsWith(`$ topupd ${words} `)));
  expect(lacking.filter((words) => !ELSEWHERE.includes(words))).toEqual([]);
});
