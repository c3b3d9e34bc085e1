import { testStore } from "../store-suite/store-suite.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

testStore("the SQLite store", () => makeSqliteDatabase());
