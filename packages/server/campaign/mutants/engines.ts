import type { Mutant } from "./mutant.ts";

const ENGINES = "packages/server/test/store/engines.test.ts";

/** Faults by which the engines differ. */
export const BETWEEN_ENGINES: readonly Mutant[] = [
  {
    fault: "PostgreSQL sorts and compares texts as a language does",
    file: "packages/server/src/store/migrations.ts",
    from: "'text COLLATE \"C\"'",
    to: "'text COLLATE \"und-x-icu\"'",
    test: ENGINES,
  },
  {
    fault: "PostgreSQL gives large numbers as texts",
    file: "packages/server/src/store/postgres/session.ts",
    from: "return oid === INT8 ? Number :",
    to: "return oid === INT8 ? String :",
    test: ENGINES,
  },
  {
    fault: "tokens are listed by a time that most of them lack",
    file: "packages/server/src/office/partners/sql.ts",
    from: 'tokensIn(db).orderBy("t.createdAt").orderBy("t.id")',
    to: 'tokensIn(db).orderBy("t.revokedAt").orderBy("t.id")',
    test: ENGINES,
  },
  {
    fault: "an amount is divided in SQL, where one engine keeps decimals",
    file: "packages/server/src/store/sales.ts",
    from: `cast(sum(\${of}) as text)`,
    to: `cast(sum(\${of}) / 2 * 2 as text)`,
    test: ENGINES,
  },
  {
    fault: "corrections of a customer do not wait for each other in PostgreSQL",
    file: "packages/server/src/store/postgres/engine.ts",
    from: "await run(tx, LOCK_CUSTOMERS(customers));",
    to: "",
    test: ENGINES,
  },
];
