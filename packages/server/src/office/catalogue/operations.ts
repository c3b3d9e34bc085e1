import { type Static, Type } from "typebox";
import { CATALOGUE_HEADER, catalogueLine } from "../../csv/writing.ts";
import { bouquetKey } from "../../domain/bouquet.ts";
import { type CatalogueRow, CatalogueRows, catalogueRow, isRetired, readCatalogueRow } from "../../domain/catalogue.ts";
import { compareCatalogues } from "../../domain/catalogue-changes.ts";
import type { Environment } from "../../domain/customer.ts";
import type { FieldProblem } from "../../domain/fields.ts";
import { type CurrencyExponent, formatMoneyInFull } from "../../domain/money.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { knownBouquets, readCatalogue } from "../../store/reference-cache.ts";
import { ENVIRONMENT, environmentOf, numberCursor, PAGE, PREVIEW, pageOf, readPage } from "../common.ts";
import { type GivenFile, type Rows, rowsOf } from "../fields.ts";
import { MOST_SAID, readRow, sourceRows } from "../imports/file.ts";
import { recordRun } from "../imports/runs.ts";
import { IMPORT } from "../imports/schemas.ts";
import { badLines } from "../imports/tally.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { removeBouquet, restoreCatalogue, setBouquet, withdrawCatalogue } from "./edit.ts";
import { differenceOf, publishNext } from "./publish.ts";
import { dayOfRevision, fromOf, readStanding, stateOf } from "./schedule.ts";
import {
  ALLOW_LARGE,
  CatalogueImportSchema,
  CatalogueRevisionSchema,
  CatalogueRowSchema,
  type CatalogueSchema,
  CurrentCatalogueSchema,
  FROM,
  importLines,
  REASON,
  REVISION,
  ShownRevisionSchema,
} from "./schemas.ts";
import { entriesOf, findRevision, listRevisions, noRevision } from "./sql.ts";

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

const AS = { tag: "Catalogue", permission: "read" } as const;

export const showCatalogue = operation({
  ...AS,
  http: "GET /catalogue",
  summary: "Show the current catalogue, and the change that waits",
  input: Type.Object(ENVIRONMENT),
  answer: CurrentCatalogueSchema,
  async run(office, input) {
    const { engine, provider } = office.store;
    const environment = await environmentOf(office, input);
    const { current, waiting } = await readStanding(engine.db, environment, office.by.at);
    const sold = current === undefined ? NONE : await revisionData(office, current);
    if (waiting === undefined) return { ...sold, waiting: null };
    const { author = "", reason = null } =
      (await entriesOf(engine.db, environment, [waiting])).get(waiting.createdAt) ?? {};
    const from = dayOfRevision(waiting, provider);
    return { ...sold, waiting: { revision: waiting.revision, from, author, reason } };
  },
});

export const listCatalogueRevisions = operation({
  ...AS,
  http: "GET /catalogue/revisions",
  summary: "List revisions, newest first",
  input: Type.Object({ ...ENVIRONMENT, ...PAGE }),
  answer: pageOf(CatalogueRevisionSchema),
  async run(office, input) {
    const environment = await environmentOf(office, input);
    const { engine, provider } = office.store;
    const { db } = engine;
    const read = (limit: number) => listRevisions(db, environment, { before: numberCursor(input), limit });
    const { items, cursor } = await readPage(input, read, ({ revision }) => revision);
    const entries = await entriesOf(db, environment, items);
    const standing = await readStanding(db, environment, office.by.at);
    const shown = items.map((each) => {
      const { revision, createdAt, bouquets } = each;
      const { author = "", reason = null } = entries.get(createdAt) ?? {};
      const [state, from] = [stateOf(each, standing), fromOf(each, provider)];
      return { revision, createdAt: isoTime(createdAt), bouquets, state, from, author, reason };
    });
    return { items: shown, cursor };
  },
});

export const showCatalogueRevision = operation({
  ...AS,
  http: "GET /catalogue/revisions/:revision",
  summary: "Show a revision",
  input: Type.Object(REVISION),
  answer: ShownRevisionSchema,
  async run(office, { revision }) {
    const { engine, provider } = office.store;
    const found = await findRevision(engine.db, revision);
    const standing = await readStanding(engine.db, found.environment, office.by.at);
    const [state, from] = [stateOf(found, standing), fromOf(found, provider)];
    const change = state === "waiting" ? await waitingChange(office, standing.current, revision) : null;
    return { ...(await revisionData(office, revision)), state, from, change };
  },
});

async function waitingChange({ store: { engine, provider } }: Office, current: number | undefined, waiting: number) {
  const read = async (revision = 0) => (await readCatalogue(engine.db, provider, revision))?.bouquets ?? [];
  return differenceOf(compareCatalogues(await read(current), await read(waiting), provider.currencyExponent));
}

const NONE: Static<typeof CatalogueSchema> = { revision: null, createdAt: null, bouquets: [] };

async function revisionData({ store }: Office, revision: number): Promise<Static<typeof CatalogueSchema>> {
  const { engine, provider } = store;
  const { createdAt } = await findRevision(engine.db, revision);
  const catalogue = (await readCatalogue(engine.db, provider, revision)) ?? noRevision();
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
    ...FROM,
    ...REASON,
    ...PREVIEW,
    ...ALLOW_LARGE,
  }),
  answer: CatalogueImportSchema,
  refuses: ["conflict"],
  cli: [
    {
      words: "import catalogue",
      arguments: ["file"],
      makesDatabase: true,
      show: importLines,
      summary: "publish a file as the next catalogue revision, whole or not at all (exit code 3: lines were skipped)",
      examples: ["topupd import catalogue catalogue.ndjson", "topupd import catalogue catalogue.csv --preview"],
    },
  ],
  run: (office, { file, environment = "production", ...rules }) =>
    recordRun(office, { kind: "catalogue", environment, file: file.name }, (recorded) =>
      publishFile(recorded, environment, file, rules),
    ),
});

interface FileRules {
  readonly skipInvalid?: boolean;
  readonly allowLargeChange?: boolean;
  readonly from?: string;
}

/** @throws Refused if lines are bad, or too many codes would go. */
async function publishFile(
  office: Office,
  environment: Environment,
  file: GivenFile,
  { skipInvalid = false, allowLargeChange, from }: FileRules,
) {
  const { bouquets, retired, rejected, problems } = await readCatalogueFile(
    file,
    office.store.provider.currencyExponent,
  );
  // A catalogue without bouquets would stop all sales, so it is a mistake in the file.
  const hasGood = bouquets.length > 0;
  if (!hasGood || (rejected > 0 && !skipInvalid)) throw badLines(rejected, hasGood, problems);
  const change = await publishNext(office, environment, () => ({ bouquets, retired }), { allowLargeChange, from });
  const lines = { accepted: bouquets.length + retired.length, rejected };
  const { unchanged, reorders, added, changed, removed } = change;
  return {
    answer: { ...change, ...lines, problems },
    report: { ...lines, unchanged, reorders, added, changed, removed },
  };
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
async function* exported({ store, by }: Office, environment: Environment): Rows<CatalogueRow> {
  const { engine, provider } = store;
  const current = (await store.currentCatalogue(environment, by.at))?.bouquets ?? [];
  const sold = new Set(current.map(bouquetKey));
  const retired = (await knownBouquets(engine.db, environment, by.at)).filter((each) => !sold.has(bouquetKey(each)));
  const row = (bouquet: (typeof current)[number]) => catalogueRow(bouquet, provider.currencyExponent);
  yield [...current.map(row), ...retired.map((each) => ({ ...row(each), retired: true as const }))];
  return undefined;
}

export const operations: readonly Operation[] = [
  ...[showCatalogue, listCatalogueRevisions, showCatalogueRevision],
  ...[publishCatalogue, exportCatalogue],
  ...[setBouquet, removeBouquet, restoreCatalogue, withdrawCatalogue],
];
