import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Tables } from "../tables.ts";
import { type Database, translating } from "./database.ts";

/** Gives a connection, for one statement. */
type WithDatabase = <Result>(work: (database: Database) => Result) => Promise<Result>;

/** Kysely over whatever connection it is given. It begins and ends no transaction by itself. */
export function kyselyOver(withDatabase: WithDatabase): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => new StatementDriver(withDatabase),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
  });
}

const WRITES = new Set(["InsertQueryNode", "UpdateQueryNode", "DeleteQueryNode"]);

class StatementDriver implements Driver, DatabaseConnection {
  readonly #withDatabase: WithDatabase;

  constructor(withDatabase: WithDatabase) {
    this.#withDatabase = withDatabase;
  }

  executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#withDatabase((database) =>
      translating(() => {
        const statement = database.prepare(sql);
        if (!WRITES.has(query.kind)) return { rows: statement.all(...parameters) as Row[] };
        return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) };
      }),
    );
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this;
  }

  streamQuery = notHere;
  beginTransaction = notHere;
  commitTransaction = notHere;
  rollbackTransaction = notHere;

  async init(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

function notHere(): never {
  throw new Error("transactions are the engine's, and what is long is read in pages");
}
