import { type Static, Type } from "typebox";
import { readCustomersCsv } from "../../../csv/reading.ts";
import { sharedWords } from "../../../domain/customer-audit.ts";
import type { HeldBack } from "../../../domain/customer-import.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import {
  ENVIRONMENT,
  EnvironmentSchema,
  environmentOf,
  FieldChangeSchema,
  InstantSchema,
  limitOf,
  numberCursor,
  oneOf,
  onePage,
  orNull,
  PAGE,
  pageOf,
  ServiceSchema,
} from "../../../office/common.ts";
import { GoodwillReadingSchema, HELD_BACK_FIELDS, heldBackFields } from "../../../office/customers/schemas.ts";
import { LargeChangeSchema, RejectedLineSchema } from "../../../office/imports/schemas.ts";
import { type HeldBackSettled, listHeldBack, settleHeldBack } from "../../../services/staff/held-back.ts";
import type { Upload } from "../../../services/staff/uploads.ts";
import type { HeldBackRecord, ImportRun } from "../../../store/staff.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* The provider's records of customers: files that are checked and written, and what of them waits for somebody's word. */

const TAG = "Imports";

export const ImportRunSchema = Type.Object(
  {
    id: Type.Integer(),
    kind: oneOf(["customers", "catalogue"]),
    environment: EnvironmentSchema,
    author: Type.String(),
    file: Type.String({ description: "Its name." }),
    asOf: orNull(Type.String()),
    startedAt: InstantSchema,
    endedAt: orNull(InstantSchema),
    outcome: oneOf(["running", "done", "refused", "failed"]),
    report: orNull(
      Type.Record(Type.String(), Type.Union([Type.Integer(), Type.Boolean()]), {
        description: "Its counts; null if it was refused, since it changed nothing.",
      }),
    ),
    problem: orNull(Type.String({ description: "Why it was refused or failed, in words." })),
  },
  { title: "ImportRun" },
);

const HELD_BACK_LINE = { line: Type.Integer(), cuid: Type.String(), ...HELD_BACK_FIELDS };

export const HeldBackSchema = Type.Object({ id: Type.Integer(), ...HELD_BACK_LINE }, { title: "HeldBack" });

export const UploadSchema = Type.Object(
  {
    id: Type.String(),
    environment: EnvironmentSchema,
    file: Type.String({ description: "Its name." }),
    asOf: orNull(Type.String()),
    author: Type.String(),
    state: oneOf(["checking", "checked", "writing", "done", "refused", "failed"]),
    lines: Type.Integer({ description: "Read so far, of the step under way." }),
    report: orNull(
      Type.Record(Type.String(), Type.Integer(), { description: "Of what would be done, and then of what was." }),
    ),
    changes: Type.Array(
      Type.Object({
        line: Type.Integer(),
        cuid: Type.String(),
        kind: oneOf(["added", "changed"]),
        changes: Type.Array(FieldChangeSchema),
      }),
      { description: "The first thousand, as of problems, heldBack and warnings." },
    ),
    problems: Type.Array(RejectedLineSchema),
    heldBack: Type.Array(Type.Object(HELD_BACK_LINE)),
    warnings: Type.Array(
      Type.Object({ line: Type.Integer(), cuid: Type.String(), service: ServiceSchema, reqId: Type.String() }),
      { description: "Connections that are stated inactive while a subscription of them runs." },
    ),
    largeChanges: Type.Array(LargeChangeSchema),
    problem: orNull(Type.String({ description: "Why it was refused or failed, in words." })),
  },
  { title: "Upload" },
);

const UPLOAD_PARAMS = Type.Object({ id: Type.String({ maxLength: 64 }) });

export const importRoutes = [
  route({
    ...{ method: "POST", path: "/imports", tag: TAG, permission: "administer" },
    summary: "Send a customers file, NDJSON or CSV: it is checked, kept for an hour, and written once it is told to",
    query: Type.Object({
      ...ENVIRONMENT,
      name: Type.Optional(Type.String({ maxLength: 200, description: "Of the file; CSV if it ends in .csv." })),
      asOf: Type.Optional(
        Type.String({
          maxLength: 64,
          description: "Up to when the records hold every top-up and reversal; needed once anything was topped up.",
        }),
      ),
      goodwill: Type.Optional(GoodwillReadingSchema),
      skipInvalid: Type.Optional(Type.Boolean({ description: "Takes the good lines although others are bad." })),
      oldRecords: Type.Optional(Type.Boolean({ description: "Records of more than 35 days ago are meant." })),
      toleranceDays: Type.Optional(
        Type.Integer({
          ...{ minimum: 1, maximum: 31 },
          description: "The later end is kept where records end less than so many days earlier; 1 unless given.",
        }),
      ),
      run: Type.Optional(Type.Boolean({ description: "Writes at once where the check finds nothing against it." })),
    }),
    body: "file",
    answer: UploadSchema,
    status: 202,
    problems: ["conflict"],
    async handle(ports, { identity, query, body: file }) {
      const { asOf, goodwill, skipInvalid = false, oldRecords = false, toleranceDays = 1, run = false } = query;
      const environment = await environmentOf(ports, query);
      const upload = await ports.uploads.start(identity, {
        ...{ environment, asOf, goodwill, skipInvalid, oldRecords, toleranceDays, run },
        ...{ file: file.name, open: file.open, letGo: file.keep(), ...(file.isCsv && { readRows: readCustomersCsv }) },
      });
      if (upload === undefined) throw new Problem("conflict", "So many files are under way that there is no room.");
      return uploadData(upload);
    },
  }),
  route({
    ...{ method: "GET", path: "/imports", tag: TAG, permission: "read" },
    summary: "List the last fifty imports of files, newest first",
    answer: pageOf(ImportRunSchema),
    async handle({ store }) {
      return onePage((await store.importRuns.list()).map(importRunData));
    },
  }),
  route({
    ...{ method: "GET", path: "/imports/:id", tag: TAG, permission: "read" },
    summary: "Show how far a file that was sent is, and what it does",
    params: UPLOAD_PARAMS,
    answer: UploadSchema,
    async handle({ uploads }, { params }) {
      const upload = uploads.find(params.id);
      if (upload === undefined) throw gone();
      return uploadData(upload);
    },
  }),
  route({
    ...{ method: "POST", path: "/imports/:id/run", tag: TAG, permission: "administer" },
    summary: "Write a file that was checked",
    params: UPLOAD_PARAMS,
    body: Type.Object({
      allowLargeChange: Type.Optional(Type.Boolean({ description: "Writes it although it shows a large change." })),
      goodwill: Type.Optional(GoodwillReadingSchema),
    }),
    answer: UploadSchema,
    status: 202,
    problems: ["conflict"],
    async handle({ uploads }, { identity, params, body }) {
      const { allowLargeChange = false, goodwill } = body;
      const upload = uploads.run(params.id, identity, { allowLargeChange, ...(goodwill && { goodwill }) });
      if (upload === undefined) throw gone();
      if (upload === "not_now")
        throw new Problem("conflict", "Only a file that was checked, and is not written, can be.");
      return uploadData(upload);
    },
  }),
  route({
    ...{ method: "GET", path: "/held-back", tag: TAG, permission: "read" },
    summary: "List what the last customers file held back",
    query: Type.Object({ ...ENVIRONMENT, ...PAGE }),
    answer: pageOf(HeldBackSchema),
    async handle(ports, { query }) {
      const page = { after: numberCursor(query), limit: limitOf(query) };
      const found = await listHeldBack(ports, { environment: await environmentOf(ports, query), ...page });
      const last = found.length < page.limit ? undefined : found.at(-1);
      return { items: found.map(heldBackRecordData), cursor: last === undefined ? null : String(last.id) };
    },
  }),
  route({
    ...{ method: "POST", path: "/held-back/:id", tag: TAG, permission: "administer" },
    summary: "Take what the file says of the customer, or leave what was paid for",
    params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    body: Type.Object({ decision: oneOf(["take", "leave"]), goodwill: Type.Optional(GoodwillReadingSchema) }),
    problems: ["conflict"],
    async handle(ports, { identity, params, body }) {
      const settled = await settleHeldBack(ports, identity, { id: params.id, ...body });
      if (settled.kind === "not_found") throw new Problem("not_found");
      if (settled.kind !== "settled") throw new Problem("conflict", notTakenWords(settled));
    },
  }),
];

function gone(): Problem {
  return new Problem("not_found", "There is no such file any more: it is kept for an hour, and until a restart.");
}

function notTakenWords(settled: Exclude<HeldBackSettled, { kind: "settled" | "not_found" }>): string {
  if (settled.kind === "stale") return "Records of a later moment were taken for this customer since: leave this one.";
  if (settled.kind === "goodwill_unclear")
    return "Say whether the file's records hold goodwill: set goodwill to held or lacking.";
  if (settled.kind === "shared") return `${settled.reqId} ${sharedWords(settled)} by now.`;
  return `The row cannot be taken any more: ${settled.problem}.`;
}

function importRunData(run: ImportRun): Static<typeof ImportRunSchema> {
  const { asOf = null, startedAt, endedAt, report = null, problem = null } = run;
  return {
    ...run,
    asOf,
    startedAt: isoTime(startedAt),
    endedAt: isoTimeOrNull(endedAt),
    report: report && { ...report },
    problem,
  };
}

function uploadData(upload: Upload): Static<typeof UploadSchema> {
  const { id, environment, file, asOf = null, author, state, lines, report, problem = null } = upload;
  return {
    ...{ id, environment, file, asOf, author, state, lines, problem },
    report: report === undefined ? null : { ...report },
    changes: upload.changes.map(({ changes, ...change }) => ({
      ...change,
      changes: changes.map(({ field, from = null, to = null }) => ({ field, from, to })),
    })),
    problems: upload.problems.map(({ line, problems }) => ({ line, problems: [...problems] })),
    heldBack: upload.heldBack.map(heldBackData),
    warnings: upload.warnings.map(({ line, cuid, service, reqId }) => ({ line, cuid, service, reqId })),
    largeChanges: [...upload.largeChanges],
  };
}

function heldBackData(held: HeldBack & Pick<HeldBackRecord, "line" | "cuid">) {
  return { line: held.line, cuid: held.cuid, ...heldBackFields(held) };
}

function heldBackRecordData(record: HeldBackRecord & { readonly id: number }): Static<typeof HeldBackSchema> {
  return { id: record.id, ...heldBackData(record) };
}
