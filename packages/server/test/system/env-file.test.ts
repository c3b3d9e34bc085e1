import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeEnvFile, readEnvFile } from "../../src/system/env-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a change takes the line of the setting, else its commented line, and keeps all others", () => {
  const text = [
    "# Settings",
    "TOPUPD_DATABASE=sqlite:./a.db",
    "#TOPUPD_DATABASE='postgres://x'",
    "#TOPUPD_CURRENCY=NPR",
    "OTHER=$x",
    "",
  ].join("\n");
  const values = { TOPUPD_DATABASE: "sqlite:./b.db", TOPUPD_CURRENCY: "EUR", TOPUPD_PREFIX: "/api" };
  const changed = changeEnvFile(text, values);
  expect(changed.split("\n")).toEqual([
    ...["# Settings", "TOPUPD_DATABASE=sqlite:./b.db", "#TOPUPD_DATABASE='postgres://x'", "TOPUPD_CURRENCY=EUR"],
    ...["OTHER=$x", "TOPUPD_PREFIX=/api", ""],
  ]);
  expect(readEnvFile(changed)).toEqual(values);
  expect(changeEnvFile("", { TOPUPD_PORT: "1" })).toBe("TOPUPD_PORT=1\n");
});

test.each(["plain", "Blue Cable Pvt. Ltd.", `"quoted" it's`, "$HOME `id` \\ & ;", "é ग", "postgres://a:b@c/d?e=f&g=h"])(
  "the value %j is read as it was written, by topupd and by a shell",
  (value) => {
    const text = changeEnvFile("", { TOPUPD_PROVIDER_NAME: value });
    expect(readEnvFile(text)).toEqual({ TOPUPD_PROVIDER_NAME: value });
    const file = join(temporaryFolder(), "topupd.env");
    writeFileSync(file, text);
    const said = execFileSync("sh", ["-c", `. ${file}; printf %s "$TOPUPD_PROVIDER_NAME"`], { encoding: "utf8" });
    expect(said).toBe(value);
  },
);
