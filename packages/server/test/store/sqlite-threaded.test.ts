import { describe } from "vitest";
import { testSettling } from "../store-suite/store-suite.ts";
import { makeThreadedDatabase } from "../support/sqlite-database.ts";

describe("the SQLite store that settles in a thread", () => testSettling(() => makeThreadedDatabase()));
