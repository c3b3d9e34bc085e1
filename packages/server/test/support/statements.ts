import {
  type Kysely,
  PostgresQueryCompiler,
  type QueryCompiler,
  type RootOperationNode,
  SqliteQueryCompiler,
} from "kysely";
import type { Tables } from "../../src/store/tables.ts";
import { withClient } from "./postgres-database.ts";
import type { rawConnection } from "./sqlite-database.ts";

/* What a database does for statements that Kysely sent. */

/** The same database, which notes each statement that it runs. */
export function noting(db: Kysely<Tables>, nodes: RootOperationNode[]): Kysely<Tables> {
  // Parts of a statement are transformed too, but have no result.
  const compiled = new WeakMap<object, RootOperationNode>();
  return db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      compiled.set(queryId, node);
      return node;
    },
    transformResult: async ({ result, queryId }) => {
      nodes.push(compiled.get(queryId) as RootOperationNode);
      return result;
    },
  });
}

function compile(compiler: QueryCompiler, node: RootOperationNode) {
  const { sql, parameters } = compiler.compileQuery(node, { queryId: "1" });
  return { sql, parameters: [...parameters] };
}

interface Plan {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly Plan[];
}

/** Runs a statement again. Returns the rows that each part of its plan reads of a table. */
export async function readsOfPostgres(url: string, node: RootOperationNode) {
  const { sql, parameters } = compile(new PostgresQueryCompiler(), node);
  const { rows } = await withClient(url, (client) => client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, parameters));
  return { sql, reads: readsOf(rows[0]["QUERY PLAN"][0].Plan) };
}

function readsOf(plan: Plan): { readonly table: string; readonly read: number }[] {
  const rows =
    plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Index Recheck"] ?? 0);
  const [table, read] = [plan["Relation Name"] ?? "", rows * plan["Actual Loops"]];
  return [{ table, read }, ...(plan.Plans ?? []).flatMap(readsOf)];
}

/** The lines of a plan that read a table or an index. */
export function plansOfSqlite(connection: ReturnType<typeof rawConnection>, node: RootOperationNode) {
  const { sql, parameters } = compile(new SqliteQueryCompiler(), node);
  const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as string[]));
  const details = (plan as { detail: string }[]).map(({ detail }) => detail);
  return { sql, details };
}
