import { describe } from "vitest";
import { testBatches } from "../store-suite/batches.ts";
import { testCheckouts } from "../store-suite/checkouts.ts";
import { testStore } from "../store-suite/store-suite.ts";
import { testTopUps } from "../store-suite/top-ups.ts";
import { startSettlingBy, startSettlingHere } from "../support/settling-thread.ts";
import { makeSettlingDatabase, makeSqliteDatabase } from "../support/sqlite-database.ts";

testStore("the SQLite store", () => makeSqliteDatabase());

describe("the SQLite store that settles in a thread", () => {
  describe("batches", () => testBatches(() => makeSettlingDatabase(startSettlingBy)));
  // A thread takes a third of a second to start. What it does is done here by the same code, and the same messages.
  describe("top-ups", () => testTopUps(() => makeSettlingDatabase(startSettlingHere)));
  describe("checkouts", () => testCheckouts(() => makeSettlingDatabase(startSettlingHere)));
});
