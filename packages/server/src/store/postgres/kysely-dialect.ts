import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { Tables } from "../tables.ts";
import type { Session } from "./session/session.ts";

/** Gives a session, for one statement. */
type WithSession = <Result>(work: (session: Session) => Promise<Result>) => Promise<Result>;

/** Kysely over whatever session it is given. It begins and ends no transaction by itself. */
export function kyselyOver(withSession: WithSession): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => new SessionDriver(withSession),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
    },
  });
}

class SessionDriver implements Driver, DatabaseConnection {
  readonly #withSession: WithSession;

  constructor(withSession: WithSession) {
    this.#withSession = withSession;
  }

  executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#withSession(async (session) => {
      const { rows, rowCount } = await session.ask(sql, parameters);
      return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
    });
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
