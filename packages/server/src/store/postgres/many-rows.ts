import { CompiledQuery } from "kysely";
import type { Db, ManyRows } from "../engine.ts";
import { type Columns, pick } from "../table.ts";
import { columnsOf, TABLES, type TableName } from "../tables.ts";
import { deleteRows, insertRows, putRows, textArray } from "./columns.ts";
import type { Query } from "./session.ts";

export async function run<Row>(tx: Db, { text, values = [] }: Query): Promise<Row[]> {
  return (await tx.withoutPlugins().executeQuery(CompiledQuery.raw(text, [...values]))).rows as Row[];
}

export const MANY_ROWS: ManyRows = {
  find(db, table, column, environment, values) {
    const text = `SELECT ${columnsOf(table).join(", ")} FROM ${table} WHERE ${column} = ANY($1::text[]) AND environment = $2`;
    return run(db, { name: `${table}_by_${column}`, text, values: [textArray(values), environment] });
  },
  put: (tx, table, rows) => write(tx, putRows(table), rows),
  add: (tx, table, rows) => write(tx, insertRows(table, columnsOfAny(table), "ON CONFLICT DO NOTHING"), rows),
  remove: (tx, table, rows) => write(tx, deleteRows(table, pick(columnsOfAny(table), ...TABLES[table].key)), rows),
};

const columnsOfAny = (table: TableName): Columns => TABLES[table].columns;

async function write<Row>(tx: Db, statement: (rows: readonly Row[]) => Query, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await run(tx, statement(rows as readonly Row[]));
}
