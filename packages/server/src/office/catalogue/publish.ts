import { cataloguePublished } from "../../domain/audit.ts";
import { type Bouquet, bouquetKey } from "../../domain/bouquet.ts";
import { CatalogueRows, isRetired, readCatalogueRow } from "../../domain/catalogue.ts";
import type { Environment } from "../../domain/customer.ts";
import type { FieldProblem } from "../../domain/fields.ts";
import type { CurrencyExponent } from "../../domain/money.ts";
import { bouquetRow, currentRevision, readCatalogue } from "../../store/reference-cache.ts";
import { verifyProvider } from "../../store/settings.ts";
import type { GivenFile } from "../fields.ts";
import { MOST_SAID, readRow, rowsOf } from "../imports/file.ts";
import { type Change, type Db, type Decider, decide } from "../office.ts";
import { insertRevision, knownBouquets } from "./sql.ts";

/** Reads a catalogue file. */
export async function readCatalogueFile(file: GivenFile, exponent: CurrencyExponent) {
  const rows = new CatalogueRows();
  const problems: { line: number; problems: FieldProblem[] }[] = [];
  let rejected = 0;
  for await (const some of rowsOf(file, "readCatalogueCsv"))
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
  /** Not sold. An earlier revision makes them known. */
  readonly retired?: readonly Bouquet[];
}

/** Plans the next revision, all of which is sold. */
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

/** Those that no revision had, or had otherwise last. */
function unknownAmong(retired: readonly Bouquet[], known: readonly Bouquet[]): Bouquet[] {
  const text = (bouquet: Bouquet) => JSON.stringify(bouquetRow(bouquet));
  const texts = new Map(known.map((each) => [bouquetKey(each), text(each)]));
  return retired.filter((bouquet) => texts.get(bouquetKey(bouquet)) !== text(bouquet));
}

/** Publishes bouquets that no file holds. @returns the number of the revision. */
export function publishBouquets(of: Decider, sold: Sold): Promise<number> {
  return decide(of, "reference", async (tx) => {
    const { revision, change } = await nextRevision(of, tx, sold);
    return { answer: revision, change };
  });
}
