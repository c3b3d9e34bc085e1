import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTemporaryFile, writeWholeFile } from "../../src/system/files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NEW = { replace: false, suffix: "abc" };
const INSTEAD = { replace: true, suffix: "abc" };

describe("a file that is written whole or not at all", () => {
  test("holds all pieces, and is for its owner alone", async () => {
    const path = join(temporaryFolder(), "file");
    expect(await writeWholeFile(path, pieces("one ", "", "two"), NEW)).toBe(7);
    expect(readFileSync(path, "utf8")).toBe("one two");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, ".."))).toEqual(["file"]);
  });

  test("has another name until it is whole", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "file");
    const seen: string[][] = [];
    const watched = async function* () {
      yield Buffer.from("one");
      seen.push(readdirSync(folder));
      yield Buffer.from("two");
    };
    await writeWholeFile(path, watched(), NEW);
    expect(seen).toEqual([["file.abc.part"]]);
  });

  test.each([NEW, INSTEAD])("leaves nothing behind where its pieces fail: %j", async (options) => {
    const folder = temporaryFolder();
    if (options.replace) writeFileSync(join(folder, "file"), "former");
    await expect(writeWholeFile(join(folder, "file"), failing(), options)).rejects.toThrow("gone");
    expect(readdirSync(folder)).toEqual(options.replace ? ["file"] : []);
    if (options.replace) expect(readFileSync(join(folder, "file"), "utf8")).toBe("former");
  });

  test("does not take the place of another, even of one that has come meanwhile", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "file");
    const overtaken = async function* () {
      yield Buffer.from("late");
      writeFileSync(path, "first");
    };
    await expect(writeWholeFile(path, overtaken(), NEW)).rejects.toMatchObject({ code: "EEXIST" });
    expect(readFileSync(path, "utf8")).toBe("first");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("takes the place of another where it is meant to", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "former", { mode: 0o644 });
    await writeWholeFile(join(folder, "file"), pieces("new"), INSTEAD);
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("new");
    expect(statSync(join(folder, "file")).mode & 0o777).toBe(0o600);
  });

  test("does not take the place of a device", async () => {
    const folder = temporaryFolder();
    symlinkSync("/dev/null", join(folder, "device"));
    const written = writeWholeFile(join(folder, "device"), pieces("a"), INSTEAD);
    await expect(written).rejects.toThrow("it is not a regular file");
    expect(readdirSync(folder)).toEqual(["device"]);
  });

  test("cannot be made in a folder that is not there, or in the place of one", async () => {
    const folder = temporaryFolder();
    await expect(writeWholeFile(join(folder, "none", "file"), pieces("a"), NEW)).rejects.toMatchObject({
      code: "ENOENT",
    });
    mkdirSync(join(folder, "taken"));
    for (const options of [NEW, INSTEAD])
      await expect(writeWholeFile(join(folder, "taken"), pieces("a"), options)).rejects.toThrow(
        /EEXIST|not a regular file/,
      );
    expect(readdirSync(folder)).toEqual(["taken"]);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});

test("a temporary file has no name, so that nothing stays of it when its process is killed, and is read as often as needed", async () => {
  const folder = temporaryFolder();
  const file = createTemporaryFile(join(folder, "file"));
  const pieces = ["a".repeat(100_000), "b"];
  let seen: string[] = [];
  await file.write(
    (async function* () {
      for (const piece of pieces) {
        seen = readdirSync(folder);
        yield Buffer.from(piece);
      }
    })(),
  );
  expect([seen, readdirSync(folder)]).toEqual([[], []]);
  for (let reading = 0; reading < 2; reading += 1) {
    const read: Uint8Array[] = [];
    for await (const piece of file.open()) read.push(piece);
    expect(Buffer.concat(read).toString()).toBe(pieces.join(""));
  }
  await file.remove();
});

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("half");
  throw new Error("gone");
}
