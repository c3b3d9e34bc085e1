import type { Environment } from "../domain/customer.ts";
import type { CustomerEffect } from "../domain/customer-audit.ts";
import type { NewEvent } from "../domain/event.ts";
import { portionsOf } from "../domain/portions.ts";
import { appendAudits } from "./audit.ts";
import { auditOfFile, CustomerFilePart, type CustomerFileWrites } from "./customer-files.ts";
import type { Db, Engine } from "./engine.ts";
import { appendEvents, hasTarget } from "./events.ts";
import { verifyProvider } from "./settings.ts";
import type { CustomerRowOfFile, FileRules, ProviderSettings, Store } from "./store.ts";

/** Customers that are loaded together. Their whole ledgers must fit in memory. */
const CUSTOMERS_AT_ONCE = 250;

export function customerImports(
  engine: Engine,
  provider: ProviderSettings,
): Pick<Store, "importCustomers" | "confirmCustomers" | "previewCustomers"> {
  const change = async (db: Db, environment: Environment, rows: readonly CustomerRowOfFile[], rules: FileRules) => {
    const cuids = rows.map(({ stated }) => stated.cuid);
    const customers = await engine.rows.find(db, "customer", "cuid", environment, cuids);
    const connections = await engine.rows.find(db, "connection", "cuid", environment, cuids);
    const ledgers = await engine.readLedgers(db, environment, cuids);
    const part = new CustomerFilePart(environment, rows, { customers, connections, ledgers });
    const names = part.newNames();
    const owners = names.length > 0 ? await engine.rows.find(db, "connection", "name_key", environment, names) : [];
    return part.apply(owners, rules, provider);
  };

  const write = async (tx: Db, writes: CustomerFileWrites): Promise<void> => {
    await engine.rows.put(tx, "customer", writes.customers);
    await engine.rows.remove(tx, "connection", writes.removedConnections);
    await engine.rows.put(tx, "connection", writes.connections);
    await engine.rows.remove(tx, "customer_code", writes.removedCodes);
    await engine.rows.add(tx, "customer_code", writes.addedCodes);
    await engine.rows.remove(tx, "customer_term", writes.removedTerms);
    await engine.rows.add(tx, "customer_term", writes.addedTerms);
    await engine.appendEntries(tx, writes.entries);
  };

  return {
    importCustomers: (environment, rows, by, rules, also) =>
      engine.transact(async (tx) => {
        await engine.lockImports(tx);
        await engine.lockCustomers(tx, keysOf(environment, rows));
        await verifyProvider(tx, provider);
        const hasAnyTarget = await hasTarget(tx);
        const effects: CustomerEffect[] = [];
        const events: NewEvent[] = [];
        for (const some of portionsOf(rows, CUSTOMERS_AT_ONCE)) {
          const outcome = await change(tx, environment, some, rules);
          await write(tx, outcome.writes);
          effects.push(...outcome.effects);
          if (hasAnyTarget) events.push(...outcome.events());
        }
        await also?.(tx, effects);
        const audits = auditOfFile(environment, rules, effects);
        if (audits.length > 0) await appendAudits(engine, tx, audits, by);
        await appendEvents(engine, tx, events);
        return effects;
      }),

    confirmCustomers: (environment, customers) =>
      engine.transact(async (tx) => {
        await engine.lockCustomers(
          tx,
          customers.map(({ cuid }) => ({ cuid, environment })),
        );
        const asOf = new Map(customers.map((each) => [each.cuid, each.asOf.instant]));
        const rows = await engine.rows.find(tx, "customer", "cuid", environment, [...asOf.keys()]);
        const later = (row: (typeof rows)[number]) => Math.max(row.as_of ?? 0, asOf.get(row.cuid) ?? 0);
        await engine.rows.put(
          tx,
          "customer",
          rows.map((row) => ({ ...row, as_of: later(row) })),
        );
      }),

    previewCustomers: (environment, rows, rules) =>
      engine.view(async (db) => {
        await verifyProvider(db, provider);
        const effects: CustomerEffect[] = [];
        for (const some of portionsOf(rows, CUSTOMERS_AT_ONCE))
          effects.push(...(await change(db, environment, some, rules)).effects);
        return effects;
      }),
  };
}

function keysOf(environment: Environment, rows: readonly CustomerRowOfFile[]) {
  return rows.map(({ stated: { cuid } }) => ({ cuid, environment }));
}
