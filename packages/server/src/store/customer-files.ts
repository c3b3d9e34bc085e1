import type { AuditedChange } from "../domain/audit.ts";
import {
  type Connection,
  type Environment,
  findConnection,
  isSameConnection,
  type NewEntry,
  withEntry,
} from "../domain/customer.ts";
import { type CustomerEffect, customersImported, effectOf, refusedEffect } from "../domain/customer-audit.ts";
import {
  type ConnectionLedger,
  type CustomerChange,
  changeCustomer,
  type StoredCustomer,
} from "../domain/customer-import.ts";
import { eventsBetween, type NewEvent } from "../domain/event.ts";
import { type Entry, headOf } from "../domain/ledger.ts";
import { AS_WRITTEN, foldName } from "../domain/names.ts";
import type { Moment } from "../domain/wall-time.ts";
import { termChanges } from "./customer-terms.ts";
import { connectionRow, keyColumns, toBareConnection, toEntry, toProfile } from "./rows.ts";
import { e164Of } from "./settings.ts";
import type { CustomerRowOfFile, FileRules, ProviderSettings } from "./store.ts";
import type { CustomerTermRow, RawRow } from "./tables.ts";

/* The changes that a part of a customers file makes. The engines load and write the rows. */

/** All rows of some customers of one environment. */
export interface StoredRows {
  readonly customers: readonly RawRow<"customer">[];
  readonly connections: readonly RawRow<"connection">[];
  readonly ledgers: readonly (ConnectionLedger & { readonly cuid: string })[];
}

/** The customer that has a connection of the environment. */
export interface ConnectionOwner {
  readonly cuid: string;
  readonly req_id: string;
}

/** Rows to write, in this order. */
export interface CustomerFileWrites {
  /** Rows to insert or replace. */
  readonly customers: readonly RawRow<"customer">[];
  readonly removedConnections: readonly ConnectionKeyRow[];
  /** Rows to insert or replace. */
  readonly connections: readonly RawRow<"connection">[];
  readonly removedCodes: readonly RawRow<"customer_code">[];
  /** Rows to insert if they are missing. */
  readonly addedCodes: readonly RawRow<"customer_code">[];
  readonly removedTerms: readonly CustomerTermRow[];
  readonly addedTerms: readonly CustomerTermRow[];
  /** Entries to append, at most one of each ledger. */
  readonly entries: readonly NewEntry[];
}

export interface CustomerFileOutcome {
  readonly effects: CustomerEffect[];
  readonly writes: CustomerFileWrites;
  /** Makes the events; called only if there is a target. */
  readonly events: () => NewEvent[];
}

/** The state of a connection that was removed, or did not exist yet. */
export const GONE = { status: "inactive", blocked: false } as const;

export type ConnectionKeyRow = Pick<RawRow<"connection">, "cuid" | "environment" | "service" | "req_id">;

/**
 * Rows of a file, at most one for each customer, and the stored rows of these customers. The engine loads the owners of
 * {@link newNames} and passes them to {@link apply}.
 */
export class CustomerFilePart {
  readonly #environment: Environment;
  readonly #rows: readonly CustomerRowOfFile[];
  readonly #stored: ReadonlyMap<string, StoredCustomer>;

  constructor(environment: Environment, rows: readonly CustomerRowOfFile[], stored: StoredRows) {
    this.#environment = environment;
    this.#rows = rows;
    this.#stored = toStoredCustomers(stored);
  }

  /** Folded usernames and set-top box numbers that are new to their customer. No other customer may have them. */
  newNames(): string[] {
    return this.#rows.flatMap(({ stated }) => {
      const before = this.#storedOf(stated.cuid).customer?.connections ?? [];
      return stated.connections
        .map(({ reqId }) => reqId)
        .filter((reqId) => !before.some((connection) => connection.reqId === reqId))
        .map(foldName);
    });
  }

  /** @param owners the owners of all connections that have one of the new names. */
  apply(owners: readonly ConnectionOwner[], rules: FileRules, provider: ProviderSettings): CustomerFileOutcome {
    const { normaliseMobile = AS_WRITTEN } = provider;
    const { now, mode, toleranceDays, allowShorter } = rules;
    const named = new Owners(owners);
    const taken: (readonly [CustomerRowOfFile, CustomerChange])[] = [];
    const effects = this.#rows.map((row) => {
      const { cuid, connections } = row.stated;
      const stored = this.#storedOf(cuid);
      // One literal: V8 makes it faster than a copy of another object.
      const itsRules = { now, mode, toleranceDays, allowShorter, asOf: row.asOf };
      const change = changeCustomer(stored, row.stated, itsRules, normaliseMobile);
      const shared = named.findOther(cuid, connections) ?? findRespelled(change);
      if (shared !== undefined) return refusedEffect(cuid, shared, change.endsRunning);
      named.move(cuid, change);
      if (!change.isStale) taken.push([row, change]);
      return effectOf(stored.customer, change);
    });
    const events = () => taken.flatMap(([, change]) => this.#eventsOf(change, rules.now));
    return { effects, writes: this.#writesOf(taken, provider), events };
  }

  #eventsOf({ profile: { cuid }, connections, entries }: CustomerChange, now: Moment): NewEvent[] {
    const environment = this.#environment;
    const { customer, ledgers } = this.#storedOf(cuid);
    const names = new Map([...connections, ...entries].map((each) => [`${each.service} ${each.reqId}`, each]));
    return [...names.values()].flatMap(({ service, reqId }) => {
      const name = { service, reqId };
      const heads = ledgers.filter((ledger) => isSameConnection(ledger, name)).map(headOf);
      const its = entries.filter((entry) => isSameConnection(entry, name));
      const before = { ...(findConnection(customer?.connections ?? [], name) ?? GONE), ledgers: heads };
      const stated = { ...(findConnection(connections, name) ?? GONE), ledgers: heads };
      return eventsBetween({ environment, cuid, ...name }, before, its.reduce(withEntry, stated), now);
    });
  }

  #storedOf(cuid: string): StoredCustomer {
    return this.#stored.get(cuid) ?? { customer: undefined, mobileForm: undefined, asOf: undefined, ledgers: [] };
  }

  #writesOf(
    taken: readonly (readonly [CustomerRowOfFile, CustomerChange])[],
    provider: ProviderSettings,
  ): CustomerFileWrites {
    const environment = this.#environment;
    const writes = {
      customers: [] as RawRow<"customer">[],
      removedConnections: [] as ConnectionKeyRow[],
      connections: [] as RawRow<"connection">[],
      removedCodes: [] as RawRow<"customer_code">[],
      addedCodes: [] as RawRow<"customer_code">[],
      removedTerms: [] as CustomerTermRow[],
      addedTerms: [] as CustomerTermRow[],
      entries: [] as NewEntry[],
    };
    for (const [{ asOf }, change] of taken) {
      const { cuid } = change.profile;
      const ofCode = (code: string) => ({ code, environment, cuid });
      if (change.changesProfile || this.#storedOf(cuid).asOf !== asOf.instant)
        writes.customers.push(customerRow(environment, change, asOf.instant, provider));
      for (const name of change.removedConnections)
        writes.removedConnections.push(keyColumns({ environment, cuid, ...name }));
      if (change.changesConnections)
        for (const [position, connection] of change.connections.entries())
          writes.connections.push(connectionRow({ cuid, environment, ...connection }, connection, position));
      writes.removedCodes.push(...change.removedCodes.map(ofCode));
      writes.addedCodes.push(...change.addedCodes.map(ofCode));
      const terms = termChanges(environment, this.#storedOf(cuid), change, provider);
      writes.removedTerms.push(...terms.removed);
      writes.addedTerms.push(...terms.added);
      for (const { service, reqId, plan, entry } of change.entries)
        writes.entries.push({ key: { environment, cuid, service, reqId }, plan, entry });
    }
    return writes;
  }
}

/** The audit entries of an import. */
export function auditOfFile(
  environment: Environment,
  { mode }: FileRules,
  effects: readonly CustomerEffect[],
): AuditedChange[] {
  return customersImported(mode === "reset" ? "trial.reset" : "customers.import", environment, effects);
}

/** The ledgers of rows. @param rows the rows of a ledger must come together, by `seq`. */
export function toLedgers(rows: readonly RawRow<"ledger_entry">[]): (ConnectionLedger & { readonly cuid: string })[] {
  const ledgers: (ConnectionLedger & { readonly cuid: string; readonly entries: Entry[] })[] = [];
  for (const row of rows) {
    const { cuid, service, req_id: reqId, plan } = row;
    const last = ledgers.at(-1);
    const isOfLast = last?.cuid === cuid && last.service === service && last.reqId === reqId && last.plan === plan;
    if (isOfLast) last.entries.push(toEntry(row));
    else ledgers.push({ cuid, service, reqId, plan, entries: [toEntry(row)] });
  }
  return ledgers;
}

function toStoredCustomers({ customers, connections, ledgers: all }: StoredRows): Map<string, StoredCustomer> {
  const connectionsOf = groupByCustomer(connections.toSorted((a, b) => a.position - b.position));
  const ledgersOf = groupByCustomer(all);
  return new Map(
    customers.map((row) => {
      const ledgers = ledgersOf.get(row.cuid) ?? [];
      const its = (connectionsOf.get(row.cuid) ?? []).map((connection) => toConnection(connection, ledgers));
      const customer = { ...toProfile(row), connections: its };
      return [row.cuid, { customer, mobileForm: row.mobile_e164 ?? undefined, asOf: row.as_of ?? undefined, ledgers }];
    }),
  );
}

function toConnection(row: RawRow<"connection">, ledgers: readonly ConnectionLedger[]): Connection {
  const its = ledgers.filter(({ service, reqId }) => service === row.service && reqId === row.req_id);
  return { ...toBareConnection(row), ledgers: its.map(headOf) };
}

function groupByCustomer<Row extends { readonly cuid: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.cuid);
    if (group === undefined) groups.set(row.cuid, [row]);
    else group.push(row);
  }
  return groups;
}

function customerRow(
  environment: Environment,
  { profile: { cuid, firstName, lastName, mobile, status, area } }: CustomerChange,
  as_of: number,
  provider: ProviderSettings,
): RawRow<"customer"> {
  const mobiles = { mobile: mobile ?? null, mobile_e164: e164Of(mobile, provider) };
  return {
    cuid,
    environment,
    first_name: firstName,
    last_name: lastName,
    status,
    area: area ?? null,
    as_of,
    ...mobiles,
  };
}

/** Finds a name that the file spells differently, while the connection with the old spelling keeps a paid subscription. */
function findRespelled({ profile: { cuid }, connections }: CustomerChange): CustomerEffect["shared"] {
  const names = new Map<string, string>();
  for (const { service, reqId } of connections) {
    const key = `${service} ${foldName(reqId)}`;
    const other = names.get(key);
    if (other !== undefined) return { reqId: other, cuid, otherReqId: reqId };
    names.set(key, reqId);
  }
  return undefined;
}

/** The owners of the new names: first as stored, then as each row of the file changes them. */
class Owners {
  /** Owners by the folded name. */
  readonly #owners = new Map<string, ConnectionOwner[]>();

  constructor(owners: readonly ConnectionOwner[]) {
    for (const owner of owners) this.#add(owner);
  }

  /** Finds a connection whose name belongs to another customer. */
  findOther(cuid: string, connections: readonly { readonly reqId: string }[]): CustomerEffect["shared"] {
    for (const { reqId } of connections) {
      const other = this.#owners.get(foldName(reqId))?.find((owner) => owner.cuid !== cuid);
      if (other !== undefined) return { reqId, cuid: other.cuid, otherReqId: other.req_id };
    }
    return undefined;
  }

  move(cuid: string, { removedConnections, connections }: CustomerChange): void {
    for (const { reqId } of removedConnections) {
      const key = foldName(reqId);
      const owners = this.#owners.get(key);
      if (owners !== undefined)
        this.#owners.set(
          key,
          owners.filter((owner) => owner.cuid !== cuid),
        );
    }
    for (const { reqId } of connections) this.#add({ cuid, req_id: reqId });
  }

  #add(owner: ConnectionOwner): void {
    const key = foldName(owner.req_id);
    const owners = this.#owners.get(key);
    if (owners === undefined) this.#owners.set(key, [owner]);
    else owners.push(owner);
  }
}
