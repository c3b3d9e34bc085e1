import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { makeSocketFolder } from "../../src/faces/cli/processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the settler's socket gets a folder with the process id, and those of processes that have ended are removed", () => {
  const place = temporaryFolder();
  const make = (name: string) => {
    mkdirSync(join(place, name));
    writeFileSync(join(place, name, "settler"), "");
    return name;
  };
  const [running, ended, same] = [make("topupd-41-Abc123"), make("topupd-42-Abc123"), make("topupd-43-Abc123")];
  const others = [make("topupd-data"), make("topupd-campaign-42"), make("tmp-42-Abc123")];
  const folder = makeSocketFolder({ place, pid: 43, isRunning: (pid) => pid === 41 });
  expect(basename(folder)).toMatch(/^topupd-43-\w{6}$/);
  expect(existsSync(folder)).toBe(true);
  const left = (names: string[]) => names.filter((name) => existsSync(join(place, name)));
  expect(left([running, ended, same, ...others])).toEqual([running, ...others]);
});
