import { Type } from "typebox";
import {
  type Connection,
  connectionState,
  findConnection as findByName,
  isBlocked,
  isSameConnection,
  wireStatus,
} from "../../domain/customer.ts";
import { byImportance, daysLeft, type PlanView, planView } from "../../domain/plan-view.ts";
import { Refused } from "../../domain/refused.ts";
import { isoTime, isoTimeOrNull, type WallTime } from "../../domain/wall-time.ts";
import { findCustomer, type RecordedCustomer } from "../../store/customers.ts";
import { momentOf } from "../../store/ports.ts";
import { ENVIRONMENT, environmentOf, PAGE, runOf } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { chainsOf } from "../steps/chains.ts";
import { presenterOf, transactionsData } from "../transactions/presenter.ts";
import { exportConnections, listAreas, listConnections } from "./connections.ts";
import { showLedgers } from "./ledgers.ts";
import { addNote, readNotes } from "./notes.ts";
import { CuidSchema, CustomerMatchesSchema, CustomerSchema } from "./schemas.ts";
import { SEARCH, searched } from "./search.ts";
import { findBlocks } from "./sql.ts";

const AS = { tag: "Customers", permission: "read" } as const;

export const searchCustomers = operation({
  ...AS,
  http: "GET /customers",
  summary: "Search customers",
  input: Type.Object({
    ...ENVIRONMENT,
    q: SEARCH,
    ...PAGE,
  }),
  answer: CustomerMatchesSchema,
  async run(office, input) {
    const { environment, transactions, items, cursor } = await searched(office, input, input);
    const now = momentOf(office).wall;
    const presenter = await presenterOf(office, environment);
    return {
      items: items.map(({ customer, code }) => {
        const connections = customer.connections.map((connection) => {
          const { baseEnd: end = null } = connectionState(connection);
          return { ...nameAndStatus(connection, now), end, ended: end !== null && end <= now };
        });
        return { ...profileOf(customer), environment, code: code ?? null, connections };
      }),
      cursor,
      transactions: await transactionsData(office.store.engine.db, transactions, presenter),
    };
  },
});

export const showCustomer = operation({
  ...AS,
  http: "GET /customers/:cuid",
  summary: "Show a customer",
  refuses: ["not_found"],
  input: Type.Object({ cuid: CuidSchema, ...ENVIRONMENT }),
  answer: CustomerSchema,
  async run(office, { cuid, ...asked }) {
    const { db } = office.store.engine;
    const environment = await environmentOf(office, asked);
    const customer = await findCustomer(db, environment, cuid);
    if (customer === undefined) throw new Refused("not_found", `no ${environment} customer has the cuid ${cuid}`);
    const blocks = await findBlocks(db, environment, cuid);
    const ledgers = await office.store.engine.readLedgers(db, environment, [cuid]);
    const now = momentOf(office).wall;
    const changed = customer.connections.map(({ service, reqId }) => {
      const name = { service, reqId };
      const its = ledgers.filter((ledger) => isSameConnection(ledger, name));
      return { ...name, ledgers: its, blockedAt: findByName(blocks, name)?.at };
    });
    const chains = await chainsOf(office, environment, changed);
    return {
      ...profileOf(customer),
      environment,
      asOf: isoTimeOrNull(customer.asOf),
      notes: await readNotes(db, environment, cuid),
      connections: customer.connections.map((connection, index) => {
        const { at, author = "", reason = "" } = findByName(blocks, connection) ?? {};
        return {
          ...nameAndStatus(connection, now),
          blockedByStaff: at === undefined ? null : { at: isoTime(at), author, reason },
          blockedByRecords: connection.status === "blocked",
          segment: connection.segment ?? null,
          plans: ledgers
            .filter((ledger) => isSameConnection(ledger, connection))
            .map((ledger) => planView(ledger, isBlocked(connection), now))
            .sort(byImportance)
            .map((each) => planData(each, now)),
          chain: chains[index] ?? null,
        };
      }),
    };
  },
});

function planData({ plan, state, run, goodwill }: PlanView, now: WallTime) {
  const shown = runOf(run);
  return {
    plan,
    state,
    run: shown && { ...shown, addOn: run?.bouquet.addOn === true, daysLeft: daysLeft(shown.end, now) },
    lastGoodwill: goodwill ?? null,
  };
}

function profileOf({ cuid, firstName, lastName, mobile, status, area }: RecordedCustomer) {
  return { cuid, firstName, lastName, mobile: mobile ?? null, status, area: area ?? null };
}

function nameAndStatus(connection: Connection, now: WallTime) {
  const { service, reqId } = connection;
  const status = isBlocked(connection) ? ("blocked" as const) : wireStatus(connectionState(connection), now);
  return { service, reqId, status };
}

export const operations: readonly Operation[] = [
  searchCustomers,
  showCustomer,
  showLedgers,
  listConnections,
  exportConnections,
  listAreas,
  addNote,
];
