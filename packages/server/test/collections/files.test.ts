import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { collectionFiles } from "../../../../scripts/collections/collections.ts";
import type { OpenApi } from "../../../../scripts/collections/openapi.ts";
import { VERSIONS } from "../../src/http/versions/versions.ts";
import { documentOf } from "../support/contract.ts";

const FOLDER = fileURLToPath(new URL("../../../../contract/collections/", import.meta.url));

const documents = VERSIONS.map(({ name }) => documentOf(name) as unknown as OpenApi) as [OpenApi, ...OpenApi[]];
const files = collectionFiles(documents);

describe("the committed collections", () => {
  test.each([...files])("have %s as the documents make it", async (path, text) => {
    await expect(text).toMatchFileSnapshot(join(FOLDER, path));
  });

  test("have no other files", () => {
    const found = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(FOLDER.length).replaceAll("\\", "/"));
    expect(found.filter((path) => path !== "README.md" && !files.has(path))).toEqual([]);
  });
});
