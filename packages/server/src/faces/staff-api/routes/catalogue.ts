import { type Static, Type } from "typebox";
import { readCatalogueCsv } from "../../../csv/reading.ts";
import type { Bouquet } from "../../../domain/bouquet.ts";
import type { BouquetEffect } from "../../../domain/catalogue-file.ts";
import type { Environment } from "../../../domain/customer.ts";
import { formatMoneyInFull } from "../../../domain/money.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import {
  AmountSchema,
  ENVIRONMENT,
  environmentOf,
  FieldChangeSchema,
  InstantSchema,
  LargeChangeSchema,
  limitOf,
  numberCursor,
  oneOf,
  orNull,
  PAGE,
  PREVIEW,
  pageOf,
  RejectedLineSchema,
  ServiceSchema,
} from "../../../office/common.ts";
import { Refused } from "../../../office/refused.ts";
import { type CatalogueImported, importCatalogue } from "../../../services/staff/import-catalogue.ts";
import { FileRefused, type RejectedLine } from "../../../services/staff/import-file.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* What is sold, and what was. */

const TAG = "Catalogue";
/** Of each, the first ones are told. */
const MOST_TOLD = 1_000;

export const BouquetSchema = Type.Object(
  {
    service: ServiceSchema,
    ...{ code: Type.String(), name: Type.String(), price: AmountSchema },
    segments: Type.Array(Type.String()),
    ...{ plan: Type.String(), addOn: Type.Boolean(), months: Type.Integer(), days: Type.Integer() },
  },
  { title: "Bouquet" },
);

export const CatalogueSchema = Type.Object(
  {
    revision: orNull(Type.Integer({ description: "Null before the first import." })),
    createdAt: orNull(InstantSchema),
    bouquets: Type.Array(BouquetSchema),
  },
  { title: "Catalogue" },
);

export const CatalogueRevisionSchema = Type.Object(
  { revision: Type.Integer(), createdAt: InstantSchema, bouquets: Type.Integer({ description: "How many." }) },
  { title: "CatalogueRevision" },
);

export const CatalogueChangeSchema = Type.Object(
  {
    revision: orNull(Type.Integer({ description: "The new one; null in a preview." })),
    ...{ accepted: Type.Integer(), rejected: Type.Integer() },
    ...{ added: Type.Integer(), changed: Type.Integer(), unchanged: Type.Integer(), removed: Type.Integer() },
    reorders: Type.Boolean({ description: "Whether those that stay come in another order." }),
    bouquets: Type.Array(
      Type.Object({
        kind: oneOf(["added", "changed", "removed"]),
        service: ServiceSchema,
        code: Type.String(),
        fields: Type.Array(FieldChangeSchema),
      }),
      { description: "The first thousand." },
    ),
    problems: Type.Array(RejectedLineSchema, { description: "Lines that are not taken: the first thousand." }),
    largeChange: orNull(LargeChangeSchema),
  },
  { title: "CatalogueChange" },
);

export const catalogueRoutes = [
  route({
    ...{ method: "GET", path: "/catalogue", tag: TAG, permission: "read" },
    summary: "Show what is sold now",
    query: Type.Object(ENVIRONMENT),
    answer: CatalogueSchema,
    async handle(ports, { query }) {
      const current = await ports.store.currentCatalogue(await environmentOf(ports, query));
      if (current === undefined) return { revision: null, createdAt: null, bouquets: [] };
      return revisionData(ports, current.revision);
    },
  }),
  route({
    ...{ method: "GET", path: "/catalogue/revisions", tag: TAG, permission: "read" },
    summary: "List revisions, newest first",
    query: Type.Object({ ...ENVIRONMENT, ...PAGE }),
    answer: pageOf(CatalogueRevisionSchema),
    async handle(ports, { query }) {
      const page = { before: numberCursor(query), limit: limitOf(query) };
      const revisions = await ports.store.catalogues.list(await environmentOf(ports, query), page);
      const last = revisions.length < page.limit ? undefined : revisions.at(-1);
      return {
        items: revisions.map((each) => ({ ...each, createdAt: isoTime(each.createdAt) })),
        cursor: last === undefined ? null : String(last.revision),
      };
    },
  }),
  route({
    ...{ method: "GET", path: "/catalogue/revisions/:revision", tag: TAG, permission: "read" },
    summary: "Show a revision",
    params: Type.Object({ revision: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) }),
    answer: CatalogueSchema,
    handle: (ports, { params }) => revisionData(ports, params.revision),
  }),
  route({
    ...{ method: "POST", path: "/catalogue", tag: TAG, permission: "administer" },
    summary: "Publish a file, NDJSON or CSV, as the next revision: all of it, or nothing",
    query: Type.Object({
      ...ENVIRONMENT,
      ...PREVIEW,
      name: Type.Optional(Type.String({ maxLength: 200, description: "Of the file; CSV if it ends in .csv." })),
      allowLargeChange: Type.Optional(Type.Boolean({ description: "A fifth of the codes and more may go." })),
    }),
    body: "file",
    answer: CatalogueChangeSchema,
    problems: ["conflict"],
    async handle(ports, { identity, query, body: file }) {
      const { preview = false, allowLargeChange = false } = query;
      const environment = await environmentOf(ports, query);
      const { name, open } = file;
      const source = { name, open, ...(file.isCsv && { readRows: readCatalogueCsv }) };
      const bouquets: BouquetEffect[] = [];
      const problems: RejectedLine[] = [];
      const hooks = {
        onChange: (bouquet: BouquetEffect) => bouquets.length < MOST_TOLD && bouquets.push(bouquet),
        onRejected: (line: RejectedLine) => problems.length < MOST_TOLD && problems.push(line),
        onProgress: () => {},
      };
      const request = { ...source, environment, dryRun: preview, allowLargeChange };
      const done = await importCatalogue(ports, identity, request, hooks).catch((error: unknown) => {
        throw error instanceof FileRefused ? Refused.field("file", error.message) : error;
      });
      if (!preview) refuse(done, environment, problems);
      return changeData(done, bouquets, problems);
    },
  }),
];

async function revisionData(ports: AdminPorts, number: number): Promise<Static<typeof CatalogueSchema>> {
  const found = await ports.store.catalogues.find(number);
  if (found === undefined) throw new Problem("not_found");
  const { currencyExponent } = ports.store.provider;
  const bouquets = found.bouquets.map(({ price, period, segments, ...bouquet }: Bouquet) => ({
    ...{ ...bouquet, price: formatMoneyInFull(price, currencyExponent), segments: [...segments] },
    ...{ months: period.months, days: period.days },
  }));
  return { revision: number, createdAt: isoTime(found.createdAt), bouquets };
}

/** @throws Problem where nothing was written. */
function refuse(done: CatalogueImported, environment: Environment, problems: readonly RejectedLine[]): void {
  if (done.kind === "bad_lines") {
    const detail = done.rejected === 0 ? "The file has no bouquet." : `${done.rejected} lines are not good.`;
    const fields = problems.flatMap((rejected) =>
      rejected.problems.map(({ field, problem }) => ({ field: `line ${rejected.line}: ${field}`, problem })),
    );
    throw new Problem("invalid", detail, fields);
  }
  if (done.kind !== "large_change") return;
  const { count, of } = done.change;
  const meant = "If that is meant, send it with allowLargeChange.";
  throw new Problem("invalid", `${count} of the ${of} codes of ${environment} would go. ${meant}`);
}

const NOTHING = { accepted: 0, added: 0, changed: 0, unchanged: 0, removed: 0, reorders: false };

function changeData(
  done: CatalogueImported,
  bouquets: readonly BouquetEffect[],
  problems: readonly RejectedLine[],
): Static<typeof CatalogueChangeSchema> {
  const report = done.kind === "bad_lines" ? { ...NOTHING, rejected: done.rejected } : done.report;
  return {
    ...{ revision: done.kind === "done" ? (done.revision ?? null) : null, ...report },
    bouquets: bouquets.map((bouquet) => ({ ...bouquet, fields: [...bouquet.fields] })),
    problems: problems.map(({ line, problems: all }) => ({ line, problems: [...all] })),
    largeChange: done.kind === "large_change" ? done.change : null,
  };
}
