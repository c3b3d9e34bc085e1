import { type CatalogueAction, cataloguePublished } from "../../domain/audit.ts";
import { type Bouquet, bouquetKey } from "../../domain/bouquet.ts";
import { type BouquetEffect, compareCatalogues } from "../../domain/catalogue-changes.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Db } from "../../store/engine.ts";
import { bouquetRow, currentRevision, knownBouquets, readCatalogue } from "../../store/reference-cache.ts";
import { verifyProvider } from "../../store/settings.ts";
import { type Change, type Decider, decide } from "../decide.ts";
import { isLargeChange, MOST_SAID } from "../imports/file.ts";
import { tooLarge } from "../imports/tally.ts";
import { insertRevision } from "./sql.ts";

/** The bouquets of the next revision. */
export interface Sold {
  readonly bouquets: readonly Bouquet[];
  /** Bouquets that are not sold; an earlier revision publishes their codes. */
  readonly retired?: readonly Bouquet[];
}

/** The current revision; its number is undefined before the first one. */
export interface Current {
  readonly revision: number | undefined;
  readonly bouquets: readonly Bouquet[];
}

const IMPORT: CatalogueAction = { action: "catalogue.import" };
/** Largest part of the codes that a catalogue may drop unasked. */
const MOST_DROPPED = 0.2;

interface Rules {
  readonly allowLargeChange?: boolean | undefined;
  readonly action?: CatalogueAction;
}

/** Publishes the next revision, for a file and for each edit. @throws Refused if too many codes would go. */
export function publishNext(
  of: Decider,
  environment: Environment,
  next: (current: Current, tx: Db) => Sold | Promise<Sold>,
  { allowLargeChange = false, action = IMPORT }: Rules,
) {
  const { currencyExponent } = of.store.provider;
  return decide(of, "reference", async (tx) => {
    const current = await readCurrent(of, tx, environment);
    const sold = await next(current, tx);
    const { bouquets, retired = [] } = sold;
    const { revision, change } = await planRevision(tx, of, environment, current, sold, action);
    const effect = compareCatalogues(current.bouquets, bouquets, currencyExponent);
    const named = new Set([...bouquets, ...retired].map(bouquetKey));
    const dropped = current.bouquets.filter((bouquet) => !named.has(bouquetKey(bouquet))).length;
    const drop = { what: "codes_dropped", count: dropped, of: current.bouquets.length } as const;
    const largeChange = isLargeChange(drop, MOST_DROPPED) ? drop : null;
    if (largeChange !== null && !allowLargeChange) throw tooLarge([largeChange]);
    const count = (kind: BouquetEffect["kind"]) => effect.bouquets.filter((each) => each.kind === kind).length;
    const answer = {
      revision: of.isPreview ? null : revision,
      added: count("added"),
      changed: count("changed"),
      unchanged: effect.unchanged,
      removed: count("removed"),
      reorders: effect.reorders,
      warnings: effect.warnings.slice(0, MOST_SAID),
      bouquets: effect.bouquets.slice(0, MOST_SAID).map((each) => ({ ...each, fields: [...each.fields] })),
      largeChange,
    };
    return { answer, change };
  });
}

/** Publishes bouquets without a file. @returns the number of the revision. */
export function publishBouquets(of: Decider, environment: Environment, sold: Sold): Promise<number> {
  return decide(of, "reference", async (tx) => {
    const current = await readCurrent(of, tx, environment);
    const { revision, change } = await planRevision(tx, of, environment, current, sold, IMPORT);
    return { answer: revision, change };
  });
}

async function readCurrent({ store: { provider } }: Decider, tx: Db, environment: Environment): Promise<Current> {
  await verifyProvider(tx, provider);
  const revision = await currentRevision(tx, environment);
  const catalogue = revision === undefined ? undefined : await readCatalogue(tx, provider, revision);
  return { revision, bouquets: catalogue?.bouquets ?? [] };
}

/** Plans the next revision, and one before it if there are unknown retired bouquets. */
async function planRevision(
  tx: Db,
  { by }: Decider,
  environment: Environment,
  current: Current,
  { bouquets, retired = [] }: Sold,
  action: CatalogueAction,
) {
  const last = (await currentRevision(tx)) ?? 0;
  const unknown = retired.length === 0 ? [] : unknownAmong(retired, await knownBouquets(tx, environment));
  const made = unknown.length === 0 ? [bouquets] : [unknown, bouquets];
  const revisions = made.map((each, index) => ({ revision: last + 1 + index, bouquets: each }));
  const change: Change = {
    async write() {
      for (const each of revisions) await insertRevision(tx, { ...each, environment, at: by.at }, each.bouquets);
    },
    audit: revisions.map((each, index) =>
      cataloguePublished(
        environment,
        revisions[index - 1]?.revision ?? current.revision,
        { revision: each.revision, bouquets: each.bouquets.length },
        action,
      ),
    ),
  };
  return { revision: last + made.length, change };
}

/** Bouquets that no revision has, or that differ from their newest definition. */
function unknownAmong(retired: readonly Bouquet[], known: readonly Bouquet[]): Bouquet[] {
  const text = (bouquet: Bouquet) => JSON.stringify(bouquetRow(bouquet));
  const texts = new Map(known.map((each) => [bouquetKey(each), text(each)]));
  return retired.filter((bouquet) => texts.get(bouquetKey(bouquet)) !== text(bouquet));
}
