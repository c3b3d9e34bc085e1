import { testOfficeAtOnce, testStore } from "../store-suite/store-suite.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";

testStore("the PostgreSQL store", () => makePostgresDatabase());
testOfficeAtOnce(() => makePostgresDatabase());
