import { Type } from "typebox";
import { type Bouquet, bouquetKey, SERVICES } from "../../domain/bouquet.ts";
import { CatalogueRows, catalogueRow, readCatalogueRow } from "../../domain/catalogue.ts";
import type { Environment } from "../../domain/customer.ts";
import { type CurrencyExponent, formatMoney } from "../../domain/money.ts";
import { Refused } from "../../domain/refused.ts";
import { readCatalogue } from "../../store/reference-cache.ts";
import { CodeSchema, EnvironmentSchema, oneOf, PREVIEW, readAmount } from "../common.ts";
import { decide } from "../decide.ts";
import { operation } from "../operation.ts";
import { type Current, publishNext } from "./publish.ts";
import { dayOfRevision, readStanding } from "./schedule.ts";
import {
  ALLOW_LARGE,
  CatalogueChangeSchema,
  changeLines,
  FROM,
  REASON,
  REVISION,
  WithdrawnRevisionSchema,
  withdrawnLine,
} from "./schemas.ts";
import { findRevision, noRevision, withdrawRevision } from "./sql.ts";

/* Edits of the catalogue. Each publishes a new revision. */

const AS = {
  tag: "Catalogue",
  permission: "administer",
  answer: CatalogueChangeSchema,
  refuses: ["not_found", "conflict"],
} as const;

const EDIT = {
  baseRevision: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "Revision that the change is made from, 0 before the first; refused if there is a newer one.",
    }),
  ),
  ...FROM,
  ...REASON,
  ...PREVIEW,
};

const BOUQUET = {
  service: oneOf(SERVICES, "Service of the bouquet."),
  code: Type.String({ ...CodeSchema, description: "Code of the bouquet." }),
  environment: Type.Optional(
    Type.Unsafe<Environment>({ ...EnvironmentSchema, description: "Environment (default: production)." }),
  ),
  ...EDIT,
};

export const setBouquet = operation({
  ...AS,
  http: "PUT /catalogue/bouquets/:code",
  summary: "Change a bouquet, or add one as the last of its service; a field that is not given stays as it is",
  input: Type.Object({
    ...BOUQUET,
    name: Type.Optional(
      Type.String({ maxLength: 200, description: "Name with one period, such as (MONTHLY); required if it is new." }),
    ),
    price: Type.Optional(
      Type.String({ maxLength: 40, description: "Price, such as 1130.50; required if the bouquet is new." }),
    ),
    segments: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 100,
        description: "A segment that can buy it; can be repeated; empty means all.",
      }),
    ),
    plan: Type.Optional(
      Type.String({ maxLength: 200, description: "Plan; of a new bouquet by default the name without its period." }),
    ),
  }),
  cli: [
    {
      words: "catalogue set",
      arguments: ["service", "code"],
      show: changeLines,
      examples: [
        "topupd catalogue set tv TV-1M --price 499 --preview",
        "topupd catalogue set tv TV-1M --price 499 --from 2026-12-01",
        'topupd catalogue set tv KIDS --name "Kids TV (MONTHLY)" --price 120',
      ],
    },
  ],
  run(office, { service, code, environment = "production", baseRevision, from, name, price, segments, plan }) {
    const { currencyExponent } = office.store.provider;
    const read = price === undefined ? price : formatMoney(readAmount(office, "price", price), currencyExponent);
    const given = { name, price: read, segments: segments?.filter((each) => each !== ""), plan };
    return publishNext(
      office,
      environment,
      (current) => {
        refuseStale(current, baseRevision);
        return { bouquets: withBouquet(current.bouquets, { service, code }, given, currencyExponent) };
      },
      { from, action: { action: "catalogue.set", service, code } },
    );
  },
});

export const removeBouquet = operation({
  ...AS,
  http: "DELETE /catalogue/bouquets/:code",
  summary: "Take a bouquet off sale; subscriptions that customers have stay",
  input: Type.Object(BOUQUET),
  cli: [
    {
      words: "catalogue remove",
      arguments: ["service", "code"],
      show: changeLines,
      examples: ["topupd catalogue remove tv TV-1M --preview"],
    },
  ],
  run: (office, { service, code, environment = "production", baseRevision, from }) =>
    publishNext(
      office,
      environment,
      (current) => {
        refuseStale(current, baseRevision);
        const bouquets = current.bouquets.filter((each) => bouquetKey(each) !== bouquetKey({ service, code }));
        if (bouquets.length === current.bouquets.length) throw new Refused("not_found", "no such bouquet is sold");
        if (bouquets.length === 0)
          throw new Refused("conflict", "this is the only bouquet: without it, partners could sell nothing");
        return { bouquets };
      },
      { from, action: { action: "catalogue.remove", service, code } },
    ),
});

export const restoreCatalogue = operation({
  ...AS,
  http: "POST /catalogue/revisions/:revision/restore",
  summary: "Publish the bouquets of an earlier revision again, as a new revision",
  input: Type.Object({ ...REVISION, ...EDIT, ...ALLOW_LARGE }),
  cli: [
    {
      words: "catalogue restore",
      arguments: ["revision"],
      show: changeLines,
      examples: ["topupd catalogue restore 12 --preview"],
    },
  ],
  async run(office, { revision, baseRevision, from, allowLargeChange }) {
    const { engine, provider } = office.store;
    const { environment } = await findRevision(engine.db, revision);
    return publishNext(
      office,
      environment,
      async (current, tx) => {
        refuseStale(current, baseRevision);
        return (await readCatalogue(tx, provider, revision)) ?? noRevision();
      },
      { allowLargeChange, from, action: { action: "catalogue.restore", restored: revision } },
    );
  },
});

export const withdrawCatalogue = operation({
  ...AS,
  http: "POST /catalogue/revisions/:revision/withdraw",
  summary: "Withdraw the revision that waits for its day",
  input: Type.Object({ ...REVISION, ...REASON }),
  answer: WithdrawnRevisionSchema,
  cli: [
    {
      words: "catalogue withdraw",
      arguments: ["revision"],
      show: withdrawnLine,
      examples: ["topupd catalogue withdraw 13"],
    },
  ],
  run: (office, { revision }) =>
    decide(office, "reference", async (tx) => {
      const { environment } = await findRevision(tx, revision);
      const { waiting } = await readStanding(tx, environment, office.clock());
      if (waiting?.revision !== revision)
        throw new Refused("conflict", `revision ${revision} does not wait for its day`);
      const from = dayOfRevision(waiting, office.store.provider);
      const write = () => withdrawRevision(tx, { environment, inForceAt: waiting.inForceAt });
      const answer = { revision, from };
      const entry = { action: "catalogue.withdraw", subject: environment, before: answer, after: undefined } as const;
      return { answer, change: { write, audit: [entry] } };
    }),
});

/** Two persons can edit at once: the second must see the first one's change before. */
function refuseStale({ revision = 0 }: Current, base = revision): void {
  if (base === revision) return;
  const todo = "Look at the current catalogue, then make the change again";
  throw new Refused(
    "conflict",
    `the catalogue was changed meanwhile: revision ${revision} is the current one. ${todo}`,
  );
}

interface Given {
  readonly name: string | undefined;
  readonly price: string | undefined;
  readonly segments: string[] | undefined;
  readonly plan: string | undefined;
}

/**
 * The bouquets with one of them changed in its place, or added after the last one of its service.
 * @throws Refused if the bouquet breaks a rule of catalogue files.
 */
function withBouquet(
  bouquets: readonly Bouquet[],
  key: Pick<Bouquet, "service" | "code">,
  given: Given,
  exponent: CurrencyExponent,
): Bouquet[] {
  const at = bouquets.findIndex((each) => bouquetKey(each) === bouquetKey(key));
  const was = bouquets[at];
  const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const reading = readCatalogueRow({ ...(was && { ...catalogueRow(was, exponent) }), ...key, ...stated }, exponent);
  const others = bouquets.filter((each) => each !== was);
  const rows = new CatalogueRows();
  for (const each of others) rows.add(each);
  const checked = reading.ok ? rows.add(reading.value) : reading;
  if (!checked.ok) throw new Refused("invalid", "", checked.problems);
  const last = others.findLastIndex(({ service }) => service === key.service);
  const place = at !== -1 ? at : last === -1 ? others.length : last + 1;
  return others.toSpliced(place, 0, checked.value);
}
