import { describe } from "vitest";
import { testSettling } from "../store-suite/store-suite.ts";
import { makeSettledDatabase } from "../support/sqlite-database.ts";

describe("the SQLite store that has a settler", () => testSettling(() => makeSettledDatabase()));
