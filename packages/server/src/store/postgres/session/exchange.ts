import type { Socket } from "node:net";
import pg from "pg";
import type { Prepared, Query, Value } from "./session.ts";

/** What came of one statement. */
export interface Answer {
  readonly rows: unknown[];
  /** As PostgreSQL names what it did. */
  readonly command: string;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** What an exchange uses of the driver's connection, whose types do not show it. */
type Wire = Record<"parse" | "bind" | "describe" | "execute" | "sync", (message?: object) => void> & {
  readonly stream: Socket;
  /** By name, the texts that PostgreSQL has prepared, and those that it was told to prepare. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
};

/** By session and statement, what its rows look like: PostgreSQL refuses a prepared statement whose columns change. */
const columnsOf = new WeakMap<Wire, Map<string, readonly Column[]>>();

/**
 * Prepared statements that go out in one piece, with one Sync behind them. PostgreSQL runs none after one that fails, and
 * answers in one piece. Within it no limit of a session's idleness counts: a commit must not be in it beside others.
 */
export class Exchange extends (pg.Query as unknown as new (config: Prepared) => object) {
  declare callback: (error: unknown, answers?: Answer[]) => void;
  /** Of the statement that is being answered: the driver notes that PostgreSQL has prepared it. */
  declare name: string;
  declare text: string;
  readonly #queries: readonly Query[];
  readonly #answers: Answer[] = [];
  #known = new Map<string, readonly Column[]>();
  #columns: readonly Column[] | undefined;
  #rows: unknown[] = [];

  /** @param queries one at least. */
  constructor(queries: readonly Query[]) {
    super(queries[0] as Query);
    this.#queries = queries;
  }

  submit(wire: Wire): null {
    this.#known = columnsOf.get(wire) ?? this.#known;
    columnsOf.set(wire, this.#known);
    const pieces: Uint8Array[] = [];
    const stream = { writable: true, write: (piece: Uint8Array) => pieces.push(piece) };
    const out: Wire = Object.create(wire, { stream: { value: stream } });
    for (const { name, text, values = [] } of this.#queries) {
      if (!(name in wire.parsedStatements || name in wire.submittedNamedStatements)) {
        out.parse({ name, text });
        wire.submittedNamedStatements[name] = text;
      }
      out.bind({ statement: name, values, valueMapper: toText });
      if (!this.#known.has(name)) out.describe({ type: "P" });
      out.execute({});
    }
    out.sync();
    // Each piece by itself would wake the other side, which takes longer.
    wire.stream.write(Buffer.concat(pieces));
    this.#next();
    return null;
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: getTypeParser(dataTypeID) }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of (this.#columns ?? []).entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#known.set(this.name, this.#columns ?? []);
    this.#answers.push({ rows: this.#rows, command: text });
    this.#next();
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#answers);
  }

  handleError(error: unknown, { submittedNamedStatements }: Wire): void {
    for (const { name } of this.#queries) delete submittedNamedStatements[name];
    this.callback(error);
  }

  #next(): void {
    const query = this.#queries[this.#answers.length];
    if (query === undefined) return;
    this.name = query.name;
    this.text = query.text;
    this.#columns = this.#known.get(query.name);
    this.#rows = [];
  }
}

function toText(value: Value): string | null {
  return value === null ? null : String(value);
}

const INT8 = 20;

/** Whole numbers are below 2^53, as the domain has them. */
export function getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}
