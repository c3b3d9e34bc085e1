import { Type } from "typebox";
import { Refused } from "../../domain/refused.ts";
import { formatShare, readShare, type Tax, taxAdded, taxesOn, taxRemoved } from "../../domain/tax.ts";
import type { Db } from "../../store/engine.ts";
import { momentOf } from "../../store/ports.ts";
import { day, daysOf, onePage, pageOf, ServiceSchema } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { deleteTax, lastSaleSince, putTax, readTaxes } from "./sql.ts";

/* Taxes contained in prices, which begin on a day. */

const TAG = "Taxes";

const TaxSchema = Type.Object(
  {
    service: ServiceSchema,
    name: Type.String(),
    share: Type.String({ description: "Percent of the base, from this day; 0 ends the tax." }),
    from: Type.String({ description: "First day." }),
  },
  { title: "Tax" },
);
const TAXES = pageOf(TaxSchema);
const COLUMNS = Object.keys(TaxSchema.properties);

const NAMED = {
  name: Type.String({
    // CSV separates taxes by other characters.
    pattern: "^[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N} .-]{0,18}[\\p{L}\\p{M}\\p{N}])?$",
    "x-problem": "must have 1 to 20 letters and digits, such as VAT",
    description: "Name of the tax, such as VAT.",
  }),
  service: { ...ServiceSchema, description: "The service whose prices contain the tax." },
  from: day("First day, later than today."),
};

export const listTaxes = operation({
  tag: TAG,
  permission: "read",
  http: "GET /taxes",
  summary: "List taxes: each holds from its day until the next one of its service and name",
  input: Type.Object({}),
  answer: TAXES,
  cli: [{ words: "tax list", show: COLUMNS, examples: ["topupd tax list"] }],
  async run({ store }) {
    return taxesData(await readTaxes(store.engine.db));
  },
});

export const addTax = operation({
  tag: TAG,
  permission: "administer",
  http: "POST /taxes",
  status: 201,
  summary: "Add a tax, or replace its share, from a day after the last top-up of the service",
  input: Type.Object({
    ...NAMED,
    share: Type.String({ maxLength: 40, description: "Percent of the base, such as 14.3; 0 ends the tax." }),
  }),
  answer: TAXES,
  cli: [
    {
      words: "tax add",
      arguments: ["name"],
      show: COLUMNS,
      examples: [
        "topupd tax add TSC --share 10 --from 2026-07-17 --service internet",
        "topupd tax add VAT --share 14.3 --from 2026-07-17 --service internet",
      ],
    },
  ],
  async run(office, { share: percent, ...named }) {
    const share = readShare(percent);
    if (share === undefined) throw Refused.field("share", "must be a number from 0 to 100 with up to 4 decimals");
    const tax = { ...named, share };
    return decide(office, "reference", async (tx) => {
      const last = await lastDayBefore(office, tx, tax);
      if (last !== undefined)
        throw Refused.field("from", `must be later than ${last}: top-ups until that day keep their taxes`);
      const taxes = await readTaxes(tx);
      const before = taxesOn(tax.service, tax.from, taxes).find(({ name }) => name === tax.name)?.share;
      const write = () => putTax(tx, tax);
      const after = [...taxes.filter((each) => !isSame(each, tax)), tax];
      return { answer: taxesData(after), change: { write, audit: [taxAdded(tax, before)] } };
    });
  },
});

export const removeTax = operation({
  tag: TAG,
  permission: "administer",
  http: "DELETE /taxes/:service/:name/:from",
  refuses: ["not_found", "conflict"],
  summary: "Remove a tax that has not begun",
  input: Type.Object(NAMED),
  answer: TAXES,
  cli: [
    {
      words: "tax remove",
      arguments: ["name"],
      show: COLUMNS,
      examples: ["topupd tax remove TSC --from 2026-07-17 --service internet"],
    },
  ],
  async run(office, named) {
    return decide(office, "reference", async (tx) => {
      const taxes = await readTaxes(tx);
      const tax = taxes.find((each) => isSame(each, named));
      if (tax === undefined)
        throw new Refused("not_found", "there is no such tax from that day: see the list of taxes");
      if ((await lastDayBefore(office, tx, tax)) !== undefined)
        throw new Refused("conflict", "the tax has begun: end it with the share 0 from a later day");
      const left = taxesData(taxes.filter((each) => each !== tax));
      return { answer: left, change: { write: () => deleteTax(tx, tax), audit: [taxRemoved(tax)] } };
    });
  },
});

/**
 * The last day whose top-ups a change from a day would reach: today, or that of the service's last top-up. Undefined if there
 * is none. Today's top-ups are never reached, so nothing that is recorded meanwhile matters.
 * @throws Refused if `from` is no day.
 */
async function lastDayBefore(office: Office, tx: Db, { service, from }: Pick<Tax, "service" | "from">) {
  daysOf(office, { from });
  const today = momentOf(office).wall.slice(0, "YYYY-MM-DD".length);
  const sold = await lastSaleSince(tx, service, from);
  const last = sold !== undefined && sold > today ? sold : today;
  return from > last ? undefined : last;
}

type Named = Omit<Tax, "share">;

/** No name has a slash. */
const keyOf = ({ service, name, from }: Named) => `${service}/${name}/${from}`;

function isSame(a: Named, b: Named): boolean {
  return keyOf(a) === keyOf(b);
}

function taxesData(taxes: readonly Tax[]) {
  const inOrder = taxes.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return onePage(inOrder.map(({ service, name, share, from }) => ({ service, name, share: formatShare(share), from })));
}

export const operations: readonly Operation[] = [listTaxes, addTax, removeTax];
