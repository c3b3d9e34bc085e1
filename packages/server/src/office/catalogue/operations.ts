import { type Static, Type } from "typebox";
import { CATALOGUE_HEADER, catalogueLine } from "../../csv/writing.ts";
import { cataloguePublished } from "../../domain/audit.ts";
import { type Bouquet, bouquetKey } from "../../domain/bouquet.ts";
import {
  type BouquetEffect,
  type CatalogueRow,
  CatalogueRows,
  catalogueRow,
  compareCatalogues,
  isRetired,
  readCatalogueRow,
} from "../../domain/catalogue.ts";
import type { Environment } from "../../domain/customer.ts";
import type { FieldProblem } from "../../domain/fields.ts";
import { type CurrencyExponent, formatMoneyInFull } from "../../domain/money.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { bouquetRow, currentRevision, readCatalogue } from "../../store/reference-cache.ts";
import { verifyProvider } from "../../store/settings.ts";
import { ENVIRONMENT, environmentOf, limitOf, numberCursor, PAGE, PREVIEW, pageOf, pageUpTo } from "../common.ts";
import { type GivenFile, type Rows, rowsOf } from "../fields.ts";
import { isLargeChange, MOST_SAID, readRow, sourceRows } from "../imports/file.ts";
import { recordRun } from "../imports/runs.ts";
import { IMPORT } from "../imports/schemas.ts";
import { badLines, tooLarge } from "../imports/tally.ts";
import { type Change, type Db, type Decider, decide, type Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import {
  CatalogueChangeSchema,
  CatalogueRevisionSchema,
  CatalogueRowSchema,
  CatalogueSchema,
  changeLines,
} from "./schemas.ts";
import { findRevisionTime, insertRevision, knownBouquets, listRevisions } from "./sql.ts";

/** Reads a catalogue file. */
export async function readCatalogueFile(file: GivenFile, exponent: CurrencyExponent) {
  const rows = new CatalogueRows();
  const problems: { line: number; problems: FieldProblem[] }[] = [];
  let rejected = 0;
  for await (const some of sourceRows(file, "readCatalogueCsv"))
    for (const row of some) {
      let retired = false;
      const reading = readRow(row, (object) => {
        retired = isRetired(object);
        return readCatalogueRow(object, exponent);
      });
      const added = reading.ok ? rows.add(reading.value, retired) : reading;
      if (added.ok) continue;
      rejected += 1;
      if (problems.length < MOST_SAID) problems.push({ line: row.line, problems: [...added.problems] });
    }
  return { bouquets: rows.bouquets, retired: rows.retired, rejected, problems };
}

interface Sold {
  readonly environment: Environment;
  readonly bouquets: readonly Bouquet[];
  /** Bouquets that are not sold; an earlier revision publishes their codes. */
  readonly retired?: readonly Bouquet[];
}

/** Plans the next revision, with all bouquets that are sold. */
export async function nextRevision(
  { store: { provider }, by }: Decider,
  tx: Db,
  { environment, bouquets, retired = [] }: Sold,
) {
  await verifyProvider(tx, provider);
  const [last = 0, former] = [await currentRevision(tx), await currentRevision(tx, environment)];
  const before = former === undefined ? [] : ((await readCatalogue(tx, provider, former))?.bouquets ?? []);
  const unknown = retired.length === 0 ? [] : unknownAmong(retired, await knownBouquets(tx, environment));
  const made = unknown.length === 0 ? [bouquets] : [unknown, bouquets];
  const revisions = made.map((each, index) => ({ revision: last + 1 + index, bouquets: each }));
  const change: Change = {
    async write() {
      for (const each of revisions) await insertRevision(tx, { ...each, environment, at: by.at }, each.bouquets);
    },
    audit: revisions.map((each, index) =>
      cataloguePublished(environment, revisions[index - 1]?.revision ?? former, {
        revision: each.revision,
        bouquets: each.bouquets.length,
      }),
    ),
  };
  return { before, revision: last + made.length, change };
}

/** Bouquets that no revision has, or that differ from their newest definition. */
function unknownAmong(retired: readonly Bouquet[], known: readonly Bouquet[]): Bouquet[] {
  const text = (bouquet: Bouquet) => JSON.stringify(bouquetRow(bouquet));
  const texts = new Map(known.map((each) => [bouquetKey(each), text(each)]));
  return retired.filter((bouquet) => texts.get(bouquetKey(bouquet)) !== text(bouquet));
}

/** Publishes bouquets without a file. @returns the number of the revision. */
export function publishBouquets(of: Decider, sold: Sold): Promise<number> {
  return decide(of, "reference", async (tx) => {
    const { revision, change } = await nextRevision(of, tx, sold);
    return { answer: revision, change };
  });
}

const AS = { tag: "Catalogue", permission: "read" } as const;
/** Largest part of the codes that a catalogue may drop unasked. */
const MOST_DROPPED = 0.2;

export const showCatalogue = operation({
  ...AS,
  http: "GET /catalogue",
  summary: "Show the current catalogue",
  input: Type.Object(ENVIRONMENT),
  answer: CatalogueSchema,
  async run(office, input) {
    const current = await currentRevision(office.store.engine.db, await environmentOf(office, input));
    return current === undefined ? { revision: null, createdAt: null, bouquets: [] } : revisionData(office, current);
  },
});

export const listCatalogueRevisions = operation({
  ...AS,
  http: "GET /catalogue/revisions",
  summary: "List revisions, newest first",
  input: Type.Object({ ...ENVIRONMENT, ...PAGE }),
  answer: pageOf(CatalogueRevisionSchema),
  async run(office, input) {
    const limit = limitOf(input);
    const page = { before: numberCursor(input), limit: limit + 1 };
    const found = await listRevisions(office.store.engine.db, await environmentOf(office, input), page);
    const revisions = found.map((each) => ({ ...each, createdAt: isoTime(each.createdAt) }));
    return pageUpTo(limit, revisions, ({ revision }) => String(revision));
  },
});

export const showCatalogueRevision = operation({
  ...AS,
  http: "GET /catalogue/revisions/:revision",
  summary: "Show a revision",
  input: Type.Object({
    revision: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Number of the revision." }),
  }),
  answer: CatalogueSchema,
  run: (office, { revision }) => revisionData(office, revision),
});

async function revisionData({ store }: Office, revision: number): Promise<Static<typeof CatalogueSchema>> {
  const { engine, provider } = store;
  const createdAt = await findRevisionTime(engine.db, revision);
  const catalogue = createdAt === undefined ? undefined : await readCatalogue(engine.db, provider, revision);
  if (createdAt === undefined || catalogue === undefined) throw new Refused("not_found", "there is no such revision");
  const bouquets = catalogue.bouquets.map(({ price, period, segments, ...bouquet }) => ({
    ...bouquet,
    price: formatMoneyInFull(price, provider.currencyExponent),
    segments: [...segments],
    months: period.months,
    days: period.days,
  }));
  return { revision, createdAt: isoTime(createdAt), bouquets };
}

export const publishCatalogue = operation({
  tag: AS.tag,
  permission: "administer",
  http: "POST /catalogue",
  summary: "Publish a file, NDJSON or CSV, as the next catalogue revision, whole or not at all",
  input: Type.Object({
    ...IMPORT,
    ...PREVIEW,
    allowLargeChange: Type.Optional(
      Type.Boolean({ description: "Accept a file that drops more than a fifth of the codes." }),
    ),
  }),
  answer: CatalogueChangeSchema,
  refuses: ["conflict"],
  cli: [
    {
      words: "import catalogue",
      arguments: ["file"],
      makesDatabase: true,
      show: changeLines,
      summary: "publish a file as the next catalogue revision, whole or not at all (exit code 3: lines were skipped)",
      examples: ["topupd import catalogue catalogue.ndjson", "topupd import catalogue catalogue.csv --preview"],
    },
  ],
  run: (office, { file, environment = "production", ...rules }) =>
    recordRun(office, { kind: "catalogue", environment, file: file.name }, (recorded) =>
      publish(recorded, environment, file, rules),
    ),
});

/** @throws Refused if lines are bad, or too many codes would go. */
async function publish(
  office: Office,
  environment: Environment,
  file: GivenFile,
  {
    skipInvalid = false,
    allowLargeChange = false,
  }: { readonly skipInvalid?: boolean; readonly allowLargeChange?: boolean },
) {
  const { currencyExponent } = office.store.provider;
  const { bouquets, retired, rejected, problems } = await readCatalogueFile(file, currencyExponent);
  // A catalogue without bouquets would stop all sales, so it is a mistake in the file.
  const hasGood = bouquets.length > 0;
  if (!hasGood || (rejected > 0 && !skipInvalid)) throw badLines(rejected, hasGood, problems);
  return decide(office, "reference", async (tx) => {
    const { before, revision, change } = await nextRevision(office, tx, { environment, bouquets, retired });
    const effect = compareCatalogues(before, bouquets, currencyExponent);
    const named = new Set([...bouquets, ...retired].map(bouquetKey));
    const dropped = before.filter((bouquet) => !named.has(bouquetKey(bouquet))).length;
    const drop = { what: "codes_dropped", count: dropped, of: before.length } as const;
    const largeChange = isLargeChange(drop, MOST_DROPPED) ? drop : null;
    if (largeChange !== null && !allowLargeChange) throw tooLarge([largeChange]);
    const count = (kind: BouquetEffect["kind"]) => effect.bouquets.filter((each) => each.kind === kind).length;
    const report = {
      accepted: bouquets.length + retired.length,
      rejected,
      unchanged: effect.unchanged,
      reorders: effect.reorders,
      added: count("added"),
      changed: count("changed"),
      removed: count("removed"),
    };
    const changed = effect.bouquets.slice(0, MOST_SAID).map((each) => ({ ...each, fields: [...each.fields] }));
    const said = { revision: office.isPreview ? null : revision, bouquets: changed, problems, largeChange };
    return { answer: { answer: { ...said, ...report }, report }, change };
  });
}

export const exportCatalogue = operation({
  ...AS,
  http: "GET /catalogue.csv",
  summary: "Export the current bouquets and those that customers still have",
  input: Type.Object(ENVIRONMENT),
  answer: rowsOf(CatalogueRowSchema, { header: CATALOGUE_HEADER, lines: (row) => [catalogueLine(row)] }),
  cli: [{ words: "export catalogue", examples: ["topupd export catalogue --output catalogue.csv"] }],
  run: async (office, input) => exported(office, await environmentOf(office, input)),
});

/** Yields the bouquets that are sold, in order; then the newest definition of every other code, as `retired`. */
async function* exported({ store }: Office, environment: Environment): Rows<CatalogueRow> {
  const { engine, provider } = store;
  const current = (await store.currentCatalogue(environment))?.bouquets ?? [];
  const sold = new Set(current.map(bouquetKey));
  const retired = (await knownBouquets(engine.db, environment)).filter((each) => !sold.has(bouquetKey(each)));
  const row = (bouquet: (typeof current)[number]) => catalogueRow(bouquet, provider.currencyExponent);
  yield [...current.map(row), ...retired.map((each) => ({ ...row(each), retired: true as const }))];
  return undefined;
}

export const operations: readonly Operation[] = [
  ...[showCatalogue, listCatalogueRevisions, showCatalogueRevision],
  ...[publishCatalogue, exportCatalogue],
];
