import { describe } from "vitest";
import { testBatches } from "../store-suite/batches.ts";
import { testCheckouts } from "../store-suite/checkouts.ts";
import { testRefusals } from "../store-suite/refusals.ts";
import { testOffice, testOfficeAtOnce, testStore } from "../store-suite/store-suite.ts";
import { testTopUps } from "../store-suite/top-ups.ts";
import { makeSettledDatabase, makeSqliteDatabase } from "../support/sqlite-database.ts";

testStore("the SQLite store", () => makeSqliteDatabase());
testOffice(() => makeSqliteDatabase());
testOfficeAtOnce(() => makeSqliteDatabase());

describe("the SQLite store that has a settler", () => {
  describe("batches", () => testBatches(() => makeSettledDatabase()));
  describe("top-ups", () => testTopUps(() => makeSettledDatabase()));
  describe("checkouts", () => testCheckouts(() => makeSettledDatabase()));
  describe("refusals", () => testRefusals(() => makeSettledDatabase()));
});
