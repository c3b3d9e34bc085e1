import { type CatalogueAction, cataloguePublished } from "../../domain/audit.ts";
import { type Bouquet, bouquetKey } from "../../domain/bouquet.ts";
import { type BouquetEffect, compareCatalogues } from "../../domain/catalogue-changes.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { bouquetRow, knownBouquets, readCatalogue } from "../../store/reference-cache.ts";
import { verifyProvider } from "../../store/settings.ts";
import { type Change, type Decider, decide } from "../decide.ts";
import { isLargeChange, MOST_SAID } from "../imports/file.ts";
import { tooLarge } from "../imports/tally.ts";
import { readFrom, readStanding, refuseWaiting } from "./schedule.ts";
import { insertRevision, lastRevision } from "./sql.ts";

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
  /** The day at whose start the revision comes into force; without it, now. */
  readonly from?: string | undefined;
}

/** Publishes the next revision, for a file and for each edit. @throws Refused if a change waits, or too many codes would go. */
export function publishNext(
  of: Decider,
  environment: Environment,
  next: (current: Current, tx: Db) => Sold | Promise<Sold>,
  { allowLargeChange = false, action = IMPORT, from }: Rules,
) {
  const { currencyExponent } = of.store.provider;
  const inForceAt = from === undefined ? of.by.at : readFrom(of, from);
  return decide(of, "reference", async (tx) => {
    const current = await readCurrent(of, tx, environment);
    const sold = await next(current, tx);
    const { bouquets, retired = [] } = sold;
    const { revision, change } = await planRevision(tx, of, environment, current, sold, { action, inForceAt, from });
    const effect = compareCatalogues(current.bouquets, bouquets, currencyExponent);
    const named = new Set([...bouquets, ...retired].map(bouquetKey));
    const dropped = current.bouquets.filter((bouquet) => !named.has(bouquetKey(bouquet))).length;
    const drop = { what: "codes_dropped", count: dropped, of: current.bouquets.length } as const;
    const largeChange = isLargeChange(drop, MOST_DROPPED) ? drop : null;
    if (largeChange !== null && !allowLargeChange) throw tooLarge([largeChange]);
    const count = (kind: BouquetEffect["kind"]) => effect.bouquets.filter((each) => each.kind === kind).length;
    const answer = {
      revision: of.isPreview ? null : revision,
      from: from ?? null,
      added: count("added"),
      changed: count("changed"),
      unchanged: effect.unchanged,
      removed: count("removed"),
      ...differenceOf(effect),
      largeChange,
    };
    return { answer, change };
  });
}

export function differenceOf({ reorders, warnings, bouquets }: ReturnType<typeof compareCatalogues>) {
  const some = bouquets.slice(0, MOST_SAID).map((each) => ({ ...each, fields: [...each.fields] }));
  return { reorders, warnings: warnings.slice(0, MOST_SAID), bouquets: some };
}

/** Publishes bouquets without a file. @returns the number of the revision. */
export function publishBouquets(of: Decider, environment: Environment, sold: Sold): Promise<number> {
  return decide(of, "reference", async (tx) => {
    const current = await readCurrent(of, tx, environment);
    const as = { action: IMPORT, inForceAt: of.by.at };
    const { revision, change } = await planRevision(tx, of, environment, current, sold, as);
    return { answer: revision, change };
  });
}

/** @throws Refused if a change waits: it was made from the current revision, and reviewed against it. */
async function readCurrent({ by, store }: Decider, tx: Db, environment: Environment): Promise<Current> {
  const { provider } = store;
  await verifyProvider(tx, provider);
  const { current: revision, waiting } = await readStanding(tx, environment, by.at);
  if (waiting !== undefined) refuseWaiting(waiting, provider);
  const catalogue = revision === undefined ? undefined : await readCatalogue(tx, provider, revision);
  return { revision, bouquets: catalogue?.bouquets ?? [] };
}

interface Publication {
  readonly action: CatalogueAction;
  readonly inForceAt: Instant;
  readonly from?: string | undefined;
}

/** Plans the next revision, and one before it if there are unknown retired bouquets. */
async function planRevision(
  tx: Db,
  { by }: Decider,
  environment: Environment,
  current: Current,
  { bouquets, retired = [] }: Sold,
  { action, inForceAt, from }: Publication,
) {
  const last = await lastRevision(tx);
  const unknown = retired.length === 0 ? [] : unknownAmong(retired, await knownBouquets(tx, environment, by.at));
  const made = unknown.length === 0 ? [bouquets] : [unknown, bouquets];
  const revisions = made.map((each, index) => ({ revision: last + 1 + index, bouquets: each }));
  const change: Change = {
    async write() {
      for (const { revision, bouquets: own } of revisions)
        await insertRevision(tx, { revision, environment, createdAt: by.at, inForceAt }, own);
    },
    audit: revisions.map((each, index) =>
      cataloguePublished(
        environment,
        revisions[index - 1]?.revision ?? current.revision,
        { revision: each.revision, bouquets: each.bouquets.length, ...(from !== undefined && { from }) },
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
