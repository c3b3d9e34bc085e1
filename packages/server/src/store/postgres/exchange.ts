import type { Socket } from "node:net";
import pg from "pg";
import type { Prepared, Query, Value } from "./session.ts";

/** The result of one statement. */
export interface Answer {
  readonly rows: unknown[];
  /** PostgreSQL's command tag, such as COMMIT. */
  readonly command: string;
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** The parts of the driver's connection that an exchange uses. The driver's types lack them. */
type Wire = Record<"parse" | "bind" | "describe" | "execute" | "sync", (message?: object) => void> & {
  readonly stream: Socket;
  /** Statements by name: those that PostgreSQL has prepared, and those sent to be prepared. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
};

/** Columns of prepared statements, by session and name. They stay valid: PostgreSQL refuses a statement if they change. */
const columnsOf = new WeakMap<Wire, Map<string, readonly Column[]>>();

/**
 * Prepared statements sent as one packet with one Sync at the end. PostgreSQL stops at the first that fails and sends one
 * answer. The idle limit of a session does not apply inside an exchange: a commit must be alone in one.
 */
export class Exchange extends (pg.Query as unknown as new (config: Prepared) => object) {
  declare callback: (error: unknown, answers?: Answer[]) => void;
  /** The statement that is being answered. The driver reads it to note that PostgreSQL has prepared the statement. */
  declare name: string;
  declare text: string;
  readonly #queries: readonly Query[];
  readonly #answers: Answer[] = [];
  #known = new Map<string, readonly Column[]>();
  #columns: readonly Column[] | undefined;
  #rows: unknown[] = [];

  /** @param queries at least one. */
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
    // One write: each separate packet would wake the server, which takes longer.
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

/** Reads int8 as a number: the domain's whole numbers are below 2^53. */
export function getTypeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}
