import type { Environment } from "../domain/customer.ts";
import { appendAudits } from "./audit.ts";
import { auditOfFile, CustomerFilePart, type CustomerFileWrites } from "./customer-files.ts";
import type { Db, Engine } from "./engine.ts";
import { appendEvents, hasTarget } from "./events.ts";
import { verifyProvider } from "./settings.ts";
import type { CustomerRowOfFile, FileRules, ProviderSettings, Store } from "./store.ts";

/** @param engine of its own, so that an import that waits keeps nobody else waiting. */
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
    await engine.rows.add(tx, "former_connection", writes.removedConnections);
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
        await engine.lockImports(tx, keysOf(environment, rows));
        await verifyProvider(tx, provider);
        const { effects, writes, events } = await change(tx, environment, rows, rules);
        await write(tx, writes);
        await also?.(tx, effects);
        const audits = auditOfFile(environment, rules, effects);
        if (audits.length > 0 || also !== undefined) await appendAudits(engine, tx, audits, by);
        // Asked after the audit trail was locked: adding a target writes there too, so none is missed.
        if (await hasTarget(tx)) await appendEvents(engine, tx, events());
        return effects;
      }),

    confirmCustomers: (environment, customers) =>
      engine.transact(async (tx) => {
        const asOf = new Map(customers.map((each) => [each.cuid, each.asOf.instant]));
        const cuids = [...asOf.keys()];
        await engine.lockImports(
          tx,
          cuids.map((cuid) => ({ environment, cuid })),
        );
        const rows = await engine.rows.find(tx, "customer", "cuid", environment, cuids);
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
        return (await change(db, environment, rows, rules)).effects;
      }),
  };
}

function keysOf(environment: Environment, rows: readonly CustomerRowOfFile[]) {
  return rows.map(({ stated: { cuid } }) => ({ cuid, environment }));
}
