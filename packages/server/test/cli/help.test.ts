import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";

const COMMANDS = [
  "",
  "serve",
  "demo",
  "partner",
  "partner add",
  "partner list",
  "partner suspend",
  "partner resume",
  "token",
  "token issue",
  "token list",
  "token revoke",
  "trial",
  "trial reset",
  "customer",
  "customer show",
  "transaction",
  "transaction list",
  "transaction show",
  "why",
  "report",
  "report settlement",
  "reconcile",
  "import",
  "import catalogue",
  "import customers",
  "check",
  "copy",
  "migrate",
  "secret",
  "secret list",
  "secret rotate",
];

const wordsOf = (command: string) => command.split(" ").filter((word) => word !== "");

describe("--help", () => {
  test("of every command goes to stdout, and is a success", async () => {
    const line = commandLine();
    const helps = await Promise.all(COMMANDS.map((command) => line.run(...wordsOf(command), "--help")));
    for (const [index, { code, stdout, stderr }] of helps.entries()) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(new RegExp(`^Usage: ${["topupd", ...wordsOf(COMMANDS[index] ?? "")].join(" ")} `));
    }
    // A command that is listed by another, and not tried here, has come since.
    const listed = helps.flatMap(({ stdout }, index) => {
      const list = stdout.split("Commands:\n")[1] ?? "";
      const names = [...list.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1]);
      return names.map((name) => `${COMMANDS[index]} ${name}`.trim());
    });
    expect(["", ...listed].sort()).toEqual([...COMMANDS].sort());
  });

  test("of serve names the flag, the variable and the default of every setting", async () => {
    const help = (await commandLine().mustRun("serve", "--help")).replace(/\s+/g, " ");
    for (const said of [
      "--host <ADDRESS>",
      "default: 127.0.0.1, env: TOPUPD_HOST",
      "--port <NUMBER>",
      "default: 8080, env: TOPUPD_PORT",
      "--database <URL>",
      "default: sqlite:./topupd.db, env: TOPUPD_DATABASE",
      "--prefix <PATH>",
      "default: /staging/api/third-party, env: TOPUPD_PREFIX",
      "--time-zone <NAME>",
      "env: TOPUPD_TIME_ZONE",
      "--currency-exponent <NUMBER>",
      "env: TOPUPD_CURRENCY_EXPONENT",
      "default: 0, env: TOPUPD_LAPSED_DAYS",
      "default: info, env: TOPUPD_LOG_LEVEL",
      "default: 1, env: TOPUPD_DRAIN_SECONDS",
      "default: 10, env: TOPUPD_SHUTDOWN_SECONDS",
      "env: TOPUPD_V100_DEPRECATED_ON",
      "env: TOPUPD_V100_SUNSET_ON",
    ])
      expect(help).toContain(said);
  });

  test("of every command fits a terminal of 80 columns", async () => {
    const line = commandLine();
    const helps = await Promise.all(COMMANDS.map((command) => line.mustRun(...wordsOf(command), "--help")));
    const wide = helps.flatMap((help) => help.split("\n").filter((text) => text.length > 80));
    expect(wide).toEqual([]);
  });

  test("--version prints the version alone", async () => {
    expect(await commandLine().mustRun("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
