import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";

/* How a table is declared, once: its rows for Kysely and for hand-written SQL, its key and its parameters follow. */

export interface Column<Value = unknown> {
  readonly kind: "text" | "number" | "blob";
  readonly isNullable: boolean;
  /** Only in the type. */
  readonly value?: Value;
}

export type Columns = Readonly<Record<string, Column>>;

export const text = <Value extends string = string>(): Column<Value> => ({ kind: "text", isNullable: false });
export const number = <Value extends number = number>(): Column<Value> => ({ kind: "number", isNullable: false });
export const blob = (): Column<Uint8Array> => ({ kind: "blob", isNullable: false });
export const flag = () => number<0 | 1>();
export const orNull = <Value>({ kind }: Column<Value>): Column<Value | null> => ({ kind, isNullable: true });

/** @param key the columns of the primary key. */
export function table<Key extends Columns, Others extends Columns = Record<never, never>>(key: Key, others?: Others) {
  return { key: namesOf(key), columns: { ...key, ...others } as Key & Others };
}

export function namesOf<Of extends Columns>(columns: Of): readonly (keyof Of & string)[] {
  return Object.keys(columns);
}

/** Some columns of a table. */
export function pick<Of extends Columns, Name extends keyof Of & string>(columns: Of, ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as Pick<Of, Name>;
}

/** The other columns of a table. */
export function omit<Of extends Columns, Name extends keyof Of & string>(columns: Of, names: readonly Name[]) {
  const left = Object.entries(columns).filter(([name]) => !(names as readonly string[]).includes(name));
  return Object.fromEntries(left) as Omit<Of, Name>;
}

/** The condition that the row `alias` has the key of another row. */
export function isAsked(alias: string, key: readonly string[], other = "k"): string {
  return key.map((name) => `${alias}.${name} = ${other}.${name}`).join(" AND ");
}

/** Columns of a table, each with its alias in front. */
export function qualified(alias: string, columns: readonly string[]): string {
  return columns.map((name) => `${alias}.${name}`).join(", ");
}

type ValueOf<Of> = Of extends Column<infer Value> ? Value : never;

/** A row of hand-written SQL. */
export type RawRowOf<Of extends Columns> = { -readonly [Name in keyof Of & string]: ValueOf<Of[Name]> };
/** A row of Kysely. */
export type RowOf<Of extends Columns> = { -readonly [Name in keyof Of & string as Camel<Name>]: ValueOf<Of[Name]> };

export type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/* Columns that several tables share. */

export const CUSTOMER = { cuid: text(), environment: text<Environment>() };
export const CONNECTION = { ...CUSTOMER, service: text<Service>(), req_id: text() };
export const LEDGER = { ...CONNECTION, plan: text() };
export const ACCOUNT = { partner_id: number(), environment: text<Environment>() };
/** Columns of an act of staff. */
export const ACT = { at: number(), wall: text(), author: text(), reason: text() };
export const ONLY_ROW = { only_row: number<1>() };
