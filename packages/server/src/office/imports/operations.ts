import { type Static, Type } from "typebox";
import { CUSTOMERS_HEADER, customerLines } from "../../csv/writing.ts";
import { heldBackKept } from "../../domain/audit.ts";
import { type Customer, customerRow, type Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import { sharedWords } from "../../domain/customer-audit.ts";
import type { ConnectionLedger, HeldBack } from "../../domain/customer-import.ts";
import { type JsonObject, readJson } from "../../domain/json.ts";
import { headAsOf } from "../../domain/ledger.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import { plainWords, Refused } from "../../domain/refused.ts";
import { endsRunning } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { type Instant, isoTime, type WallTime } from "../../domain/wall-time.ts";
import { listCustomers } from "../../store/customers.ts";
import { ENVIRONMENT, environmentOf, numberCursor, oneOf, onePage, PAGE, pageOf, readPage } from "../common.ts";
import { readNames } from "../customer-search.ts";
import { GoodwillReadingSchema, heldBackFields } from "../customers/schemas.ts";
import { decide } from "../decide.ts";
import { type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { type Presenter, presenterOf, transactionData } from "../transactions/presenter.ts";
import { findByTxnIds } from "../transactions/sql.ts";
import { type CustomerImport, importCustomer } from "./customers.ts";
import * as sql from "./runs.ts";
import { CUSTOMERS_FILE, CustomerRowSchema, HeldBackSchema, ImportRunSchema, UploadSchema } from "./schemas.ts";
import { Uploads } from "./uploads.ts";

/* Imports of the provider's records of customers, and the subscriptions that they held back. */

const TAG = "Imports";
const READ = { tag: TAG, permission: "read" } as const;
const CHANGE = { tag: TAG, permission: "administer", refuses: ["conflict"] } as const;
const UploadId = Type.String({ maxLength: 64, description: "Id of the upload." });

export const uploadCustomers = operation({
  ...CHANGE,
  http: "POST /imports",
  status: 202,
  summary: "Upload a customers file, NDJSON or CSV: it is checked, kept for an hour, and imported on request",
  input: Type.Object({
    ...CUSTOMERS_FILE,
    run: Type.Optional(Type.Boolean({ description: "Writes at once if the check finds nothing against it." })),
  }),
  answer: UploadSchema,
  run(office, { file, environment = "production", run = false, ...said }) {
    const deleteFile = file.keep?.() ?? (async () => {});
    return office.single(Uploads).start(office, { ...said, environment, file, deleteFile, run });
  },
});

export const listImports = operation({
  ...READ,
  http: "GET /imports",
  summary: "List the last fifty imports of files, newest first",
  input: Type.Object({}),
  answer: pageOf(ImportRunSchema),
  run: async ({ store: { engine } }) => onePage(await sql.listRuns(engine.db)),
});

export const showUpload = operation({
  ...READ,
  http: "GET /imports/:id",
  summary: "Show how far a file that was sent is, and what it does",
  input: Type.Object({ id: UploadId }),
  answer: UploadSchema,
  run: async ({ single }, { id }) => single(Uploads).find(id),
});

export const runUpload = operation({
  ...CHANGE,
  http: "POST /imports/:id/run",
  status: 202,
  summary: "Write a file that was checked",
  input: Type.Object({
    id: UploadId,
    allowLargeChange: Type.Optional(Type.Boolean({ description: "Writes it although it shows a large change." })),
    goodwill: Type.Optional(GoodwillReadingSchema),
  }),
  answer: UploadSchema,
  run: (office, { id, ...request }) => office.single(Uploads).run(office, id, request),
});

export const listHeldBack = operation({
  ...READ,
  http: "GET /held-back",
  summary: "List what the last customers file held back",
  input: Type.Object({ ...ENVIRONMENT, ...PAGE }),
  answer: pageOf(HeldBackSchema),
  async run(office, input) {
    const { db } = office.store.engine;
    const environment = await environmentOf(office, input);
    const read = (limit: number) => sql.listHeldBack(db, environment, { after: numberCursor(input), limit });
    const { items: found, cursor } = await readPage(input, read, ({ id }) => id);
    const cuids = found.map(({ cuid }) => cuid);
    const txnIds = found.flatMap(({ txnId }) => txnId ?? []);
    const [names, topUps] = [await readNames(db, environment, cuids), await findByTxnIds(db, txnIds)];
    const presenter = await presenterOf(office.store, environment);
    const now = office.store.provider.zone.wallTime(office.clock());
    const items = found.map((held) => {
      const topUp = topUps.get(held.txnId ?? "");
      return {
        id: held.id,
        line: held.line,
        cuid: held.cuid,
        ...heldBackFields(held),
        customer: names.get(held.cuid) ?? null,
        topUp: topUp === undefined ? null : topUpData(topUp, presenter),
        endsRunning: wouldEnd(held, now),
      };
    });
    return { items, cursor };
  },
});

/** Whether a row ends a running subscription if it is applied; if goodwill is unclear, by either reading. */
function wouldEnd({ keptEnd, statedEnd, goodwill }: HeldBack, now: WallTime): boolean {
  const runTo = (end: WallTime | undefined) => (end === undefined ? undefined : { end });
  const ends = goodwill === undefined ? [statedEnd] : [statedEnd, goodwill.lackingEnd];
  return ends.some((end) => endsRunning(runTo(keptEnd), runTo(end), now));
}

function topUpData(topUp: Transaction, presenter: Presenter) {
  const { partner, amount, txnDate } = transactionData(topUp, presenter);
  return { partner, amount, txnDate };
}

export const settleHeldBack = operation({
  ...CHANGE,
  http: "POST /held-back/:id",
  summary: "Apply the file to a customer, or keep the paid time",
  input: Type.Object({
    id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Id of a held-back row." }),
    decision: oneOf(["shorten", "keep"], "shorten: apply the file to the customer; keep: keep the paid time."),
    goodwill: Type.Optional(GoodwillReadingSchema),
  }),
  async run(office, { id, decision, goodwill }) {
    const { db } = office.store.engine;
    const found = (await sql.findHeldBack(db, id)) ?? notHeldBack();
    const { environment, cuid } = found;
    if (decision === "shorten") {
      await applyRow(office, found, goodwill);
      return undefined;
    }
    return decide(office, [{ environment, cuid }], async (tx) => {
      const all = await sql.heldBackOf(tx, environment, cuid);
      const ends = all.map(({ service, reqId, plan, keptEnd = null }) => [`${service} ${reqId}: ${plan}`, keptEnd]);
      const audit = all.length > 0 ? [heldBackKept(environment, cuid, Object.fromEntries(ends))] : [];
      return { answer: undefined, change: { write: () => sql.deleteHeldBack(tx, environment, cuid), audit } };
    });
  },
});

function notHeldBack(): never {
  throw new Refused("not_found", "this is not held back any more");
}

/** Applies the whole row of the customer, who is then no longer held back. @throws Refused */
async function applyRow(office: Office, found: sql.NumberedHeldBack, goodwill: CustomerImport["goodwill"]) {
  const { environment, cuid } = found;
  const row = readJson(found.sourceRow) as JsonObject;
  // The age of the records was checked when the file was imported.
  const request = { environment, row, goodwill, oldRecords: true, allowShorter: true };
  await importCustomer(office, request, async (tx, [effect]) => {
    if (effect !== undefined) refuseUnlessApplied(effect);
    await sql.deleteHeldBack(tx, environment, cuid);
  }).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "invalid") throw error;
    throw new Refused("conflict", `the row cannot be applied any more: ${plainWords(error)}`);
  });
}

/** If one subscription cannot be shortened, none is. @throws Refused */
function refuseUnlessApplied({ shared, isStale, heldBack }: CustomerEffect): void {
  if (shared !== undefined) throw new Refused("conflict", `${shared.reqId} ${sharedWords(shared)} by now`);
  if (isStale)
    throw new Refused("conflict", "records of a later moment were taken for this customer since: keep this one");
  if (heldBack.length > 0)
    throw new Refused("conflict", (name) => {
      return `say whether the file's records hold goodwill: ${name("goodwill", "held")} or ${name("goodwill", "lacking")}`;
    });
}

export const exportCustomers = operation({
  tag: "Customers",
  permission: "read",
  http: "GET /customers.csv",
  summary: "Export all customers, in the form that an import reads: plain records, without their history",
  input: Type.Object(ENVIRONMENT),
  answer: rowsOf(CustomerRowSchema, { header: CUSTOMERS_HEADER, lines: customerLines }),
  cli: [{ words: "export customers", examples: ["topupd export customers --output customers.csv"] }],
  run: async (office, input) => exportedCustomers(office, await environmentOf(office, input)),
});

export const operations: readonly Operation[] = [
  ...[uploadCustomers, listImports, showUpload, runUpload],
  ...[listHeldBack, settleHeldBack, exportCustomers],
];

/** Customers read at once. Top-ups of a running service wait very little. */
const CUSTOMERS_AT_ONCE = 500;

/**
 * Yields all customers of an environment as rows of a customers file, some hundred at a time. A customer who is added
 * meanwhile may be missing. Each row has an `asOf` of a minute ago and leaves out later top-ups, so an import of the rows
 * changes nothing.
 */
export async function* exportedCustomers(
  { store, clock }: Pick<Office, "store" | "clock">,
  environment: Environment,
): Rows<Static<typeof CustomerRowSchema>> {
  const { engine } = store;
  const asOf = clock() - SETTLED_AFTER_MS;
  await engine.awaitCommits();
  let after: string | undefined;
  do {
    const customers = await listCustomers(engine.db, environment, { after, limit: CUSTOMERS_AT_ONCE });
    const cuids = customers.map(({ cuid }) => cuid);
    const ledgers = new Map<string, ConnectionLedger[]>(cuids.map((cuid) => [cuid, []]));
    for (const ledger of await engine.readLedgers(engine.db, environment, cuids))
      ledgers.get(ledger.cuid)?.push(ledger);
    yield customers.map((each) => customerRow(asItWas(each, ledgers.get(each.cuid) ?? [], asOf), isoTime(asOf)));
    after = cuids.at(-1);
  } while (after !== undefined);
  return undefined;
}

function asItWas(customer: Customer, ledgers: readonly ConnectionLedger[], asOf: Instant): Customer {
  const connections = customer.connections.map((connection) => {
    const its = ledgers.filter(({ service, reqId }) => service === connection.service && reqId === connection.reqId);
    return { ...connection, ledgers: its.map((ledger) => headAsOf(ledger, asOf)) };
  });
  return { ...customer, connections };
}
