import { type Static, Type } from "typebox";
import { CUSTOMERS_HEADER, customerLines } from "../../csv/writing.ts";
import { type Customer, customerRow, type Environment } from "../../domain/customer.ts";
import type { ConnectionLedger } from "../../domain/customer-import.ts";
import { headAsOf } from "../../domain/ledger.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { listCustomers } from "../../store/customers.ts";
import { ENVIRONMENT, environmentOf, onePage, pageOf } from "../common.ts";
import { GoodwillReadingSchema } from "../customers/schemas.ts";
import { type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { exportHeldBack, listHeldBack, settleHeldBack } from "./held-back.ts";
import * as sql from "./runs.ts";
import { CUSTOMERS_FILE, CustomerRowSchema, ImportRunSchema, UploadSchema } from "./schemas.ts";
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

export const exportCustomers = operation({
  tag: "Customers",
  permission: "read",
  http: "GET /customers.csv",
  isReport: true,
  summary: "Export all customers, in the form that an import reads: plain records, without their history",
  input: Type.Object(ENVIRONMENT),
  answer: rowsOf(CustomerRowSchema, { header: CUSTOMERS_HEADER, lines: customerLines }),
  cli: [{ words: "export customers", examples: ["topupd export customers --output customers.csv"] }],
  run: async (office, input) => exportedCustomers(office, await environmentOf(office, input)),
});

export const operations: readonly Operation[] = [
  ...[uploadCustomers, listImports, showUpload, runUpload],
  ...[listHeldBack, exportHeldBack, settleHeldBack, exportCustomers],
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
