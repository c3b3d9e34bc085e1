import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collectionFiles } from "../../../../scripts/collections/collections.ts";
import { documents, FOLDER } from "./documents.ts";

const files = new Map(documents.flatMap((document) => [...collectionFiles(document)]));

describe("the committed collections", () => {
  test.each([...files])("have %s as the documents make it", async (path, text) => {
    await expect(text).toMatchFileSnapshot(join(FOLDER, path));
  });

  test("have no other files", () => {
    const found = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(FOLDER.length).replaceAll("\\", "/"));
    expect(found).toContain("README.md");
    expect(found.filter((path) => path !== "README.md" && !files.has(path))).toEqual([]);
  });

  test("hold no access token", () => {
    const holding = [...files].filter(([, text]) => /topup_(?:trial|live)_/.test(text));
    expect(holding.map(([path]) => path)).toEqual([]);
  });
});

describe("a document without what the flow needs", () => {
  const without = (name: string) => JSON.parse(JSON.stringify(documents[0]).replaceAll(name, "other"));

  test.each([
    ["txnStatus", "the document has no operation txnStatus"],
    ["checkout_unknown", "txnStatus never refuses with checkout_unknown"],
    ["bouquets", "the document has no such field"],
    ["idempotent-replayed", "v1.0.1 does not mark replays"],
  ])("makes no collection: %s", (name, problem) => {
    expect(() => collectionFiles(without(name))).toThrow(problem);
  });
});
