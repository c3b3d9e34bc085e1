import { fileURLToPath } from "node:url";
import type { OpenApi } from "../../../../scripts/collections/openapi.ts";
import { VERSIONS } from "../../src/partner/versions/all.ts";
import { documentOf } from "../support/contract.ts";

/** Where the collections are committed. */
export const FOLDER = fileURLToPath(new URL("../../../../contract/collections/", import.meta.url));

/** What the collections are made of: the documents of all versions, the current one first. */
export const documents = VERSIONS.map(({ name }) => documentOf(name) as unknown as OpenApi);
