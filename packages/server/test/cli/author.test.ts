import { userInfo } from "node:os";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";

async function authorOf(env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string> {
  const line = commandLine({ env });
  await line.mustRun("partner", "add", "wallet", ...words);
  return JSON.parse(await line.mustRun("audit", "list", "--json")).author;
}

describe("who stands in the audit trail", () => {
  test("is the one who called sudo, and not the user that all commands are run as", async () => {
    expect(await authorOf({ SUDO_USER: "maya" })).toBe("maya");
  });

  test("is the user, where sudo was not called", async () => {
    expect(await authorOf({})).toBe(userInfo().username);
  });

  test.each(["", " maya", "ma\nya", "m".repeat(65)])(
    "is the user, where %j came in the place of a name",
    async (name) => {
      expect(await authorOf({ SUDO_USER: name })).toBe(userInfo().username);
    },
  );

  test("is whom --as names, before all others", async () => {
    expect(await authorOf({ SUDO_USER: "maya" }, "--as", "ramesh")).toBe("ramesh");
  });
});
