import type { Prepared, Session } from "./session/session.ts";

/** Condition: it is of no extension. Those bring functions and tables of their own into the schema. */
export function isOwn(catalogue: "pg_class" | "pg_proc", alias: string): string {
  return `NOT EXISTS (SELECT FROM pg_depend WHERE pg_depend.classid = '${catalogue}'::regclass
    AND pg_depend.objid = ${alias}.oid AND pg_depend.deptype = 'e')`;
}

/** Of the current schema, in words that do not depend on its name, on the server or on its version. */
const PARTS: readonly Prepared[] = [
  {
    name: "schema_columns",
    text: `SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
        || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
        || CASE WHEN l.collname = 'default' THEN '' ELSE coalesce(' COLLATE ' || l.collname, '') END AS part
      FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
      LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
      WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p') AND ${isOwn("pg_class", "c")}
      ORDER BY c.relname, a.attnum`,
  },
  {
    name: "schema_constraints",
    text: `SELECT 'constraint ' || c.relname || ': ' || pg_get_constraintdef(k.oid) AS part
      FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
      WHERE k.connamespace = quote_ident(current_schema())::regnamespace AND k.contype <> 'n' AND k.contype <> 't'
        AND ${isOwn("pg_class", "c")}
      ORDER BY c.relname, k.contype, 1`,
  },
  {
    name: "schema_indexes",
    text: `SELECT 'index ' || c.relname || ' (' || string_agg(pg_get_indexdef(i.indexrelid, n, true), ', ' ORDER BY n) || ')'
        || CASE WHEN i.indisunique THEN ' UNIQUE' ELSE '' END || CASE WHEN i.indisvalid THEN '' ELSE ' INVALID' END AS part
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid,
        generate_series(1, i.indnatts) AS n
      WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p') AND ${isOwn("pg_class", "c")}
      GROUP BY c.relname, i.indexrelid, i.indisunique, i.indisvalid ORDER BY 1`,
  },
  {
    name: "schema_triggers",
    text: `SELECT replace(pg_get_triggerdef(t.oid), quote_ident(current_schema()) || '.', '')
        || CASE WHEN t.tgenabled = 'O' THEN '' ELSE ' DISABLED' END AS part
      FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
      WHERE NOT t.tgisinternal AND c.relnamespace = quote_ident(current_schema())::regnamespace AND ${isOwn("pg_class", "c")}
      ORDER BY c.relname, t.tgname`,
  },
  {
    name: "schema_rules",
    text: `SELECT 'rule ' || c.relname || ': ' || r.rulename AS part
      FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class
      WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p') AND ${isOwn("pg_class", "c")}
      ORDER BY 1`,
  },
  {
    name: "schema_functions",
    text: `SELECT 'function ' || p.proname || ':' || p.prosrc AS part FROM pg_proc AS p
      WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND ${isOwn("pg_proc", "p")} ORDER BY p.proname`,
  },
];

/** Tables, constraints, indexes, triggers, rules and functions of the current schema, one a line or more. */
export async function describeSchema(session: Session): Promise<string[]> {
  const parts = await session.runAll(PARTS.map((statement) => [statement]));
  return parts.flat().map((row) => (row as { part: string }).part);
}
