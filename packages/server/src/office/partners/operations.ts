import { Type } from "typebox";
import type { Partner } from "../../domain/access-token.ts";
import { NO_TERMS } from "../../domain/account.ts";
import { AddressList, readAddressRange, sameRanges } from "../../domain/address-list.ts";
import { partnerAdded, partnerAllowed, partnerLimited, partnerStatusSet } from "../../domain/audit.ts";
import { DEFAULT_LIMITS, type PartnerLimits } from "../../domain/partner-limits.ts";
import { isoTimeOrNull } from "../../domain/wall-time.ts";
import { NameSchema, onePage, pageOf } from "../common.ts";
import { decide } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import {
  AddressesSchema,
  LIMITS,
  ListedPartnerSchema,
  noPartner,
  PartnerName,
  PartnerSchema,
  partnerData,
  StatusSchema,
  tokenState,
} from "./presenter.ts";
import * as sql from "./sql.ts";

/* Partners, who may call the partner API. */

const AS = { tag: "Partners", permission: "administer" } as const;
const BY_NAME = ["name"] as const;
const READ = { tag: "Partners", permission: "read" } as const;
/** Partners as a table; `-` means any address. */
export const PARTNER_COLUMNS = ["id", "name", "status", "createdAt", "certifiedAt", "allowedAddresses"];

export const listPartners = operation({
  ...READ,
  http: "GET /partners",
  summary: "List partners",
  input: Type.Object({}),
  answer: pageOf(ListedPartnerSchema),
  cli: [
    { words: "partner list", show: PARTNER_COLUMNS, examples: ["topupd partner list", "topupd partner list --json"] },
  ],
  async run({ store, clock }) {
    const { db } = store.engine;
    const [partners, tokens, uses] = await Promise.all([
      sql.readPartners(db),
      sql.readTokens(db),
      sql.readLastUses(db),
    ]);
    const now = clock();
    return onePage(
      partners.map((partner) => {
        const own = tokens.filter((token) => token.partner.id === partner.id);
        const used = own.flatMap(({ id }) => uses.get(id) ?? []);
        return {
          ...partnerData(partner),
          validTokens: own.filter((token) => tokenState(token, now) === "valid").length,
          lastUsedAt: isoTimeOrNull(used.length === 0 ? undefined : Math.max(...used)),
        };
      }),
    );
  },
});

export const addPartner = operation({
  ...AS,
  http: "POST /partners",
  status: 201,
  summary: "Add a partner",
  refuses: ["conflict"],
  input: Type.Object({ name: NameSchema }),
  answer: PartnerSchema,
  cli: [
    {
      words: "partner add",
      arguments: BY_NAME,
      makesDatabase: true,
      show: PARTNER_COLUMNS,
      examples: ['topupd partner add "Blue Wallet"'],
    },
  ],
  async run(office, { name }) {
    return decide(office, "reference", async (tx) => {
      if ((await sql.findPartner(tx, name)) !== undefined)
        throw new Refused("conflict", `there is a partner named ${name} already`);
      const id = await sql.nextPartnerId(tx);
      const partner: Partner = {
        ...{ id, name, status: "active", createdAt: office.by.at },
        ...{ allowedAddresses: undefined, certifiedAt: undefined, limits: DEFAULT_LIMITS, terms: NO_TERMS },
      };
      const write = () => sql.insertPartner(tx, partner);
      return { answer: partnerData(partner), change: { write, audit: [partnerAdded(partner)] } };
    });
  },
});

export const showPartner = operation({
  ...READ,
  http: "GET /partners/:name",
  summary: "Show a partner",
  input: Type.Object({ name: PartnerName }),
  answer: PartnerSchema,
  run: async ({ store }, { name }) => partnerData((await sql.findPartner(store.engine.db, name)) ?? noPartner(name)),
});

export const changePartner = operation({
  ...AS,
  http: "PATCH /partners/:name",
  summary: "Suspend or resume a partner, or limit its IP addresses",
  input: Type.Object({
    name: PartnerName,
    status: Type.Optional(StatusSchema),
    allowedAddresses: Type.Optional(AddressesSchema),
  }),
  answer: PartnerSchema,
  cli: (
    [
      ["suspend", "suspended", "refuse all requests of a partner except txn-status until it is resumed"],
      ["resume", "active", "let a suspended partner call again"],
    ] as const
  ).map(([verb, status, summary]) => ({
    words: `partner ${verb}`,
    summary,
    arguments: BY_NAME,
    given: { status, allowedAddresses: undefined },
    show: PARTNER_COLUMNS,
    examples: [`topupd partner ${verb} "Blue Wallet"`],
  })),
  async run(office, { name, status, allowedAddresses: given }) {
    const addresses = given == null ? undefined : readAddresses(given);
    return decide(office, "reference", async (tx) => {
      const before = (await sql.findPartner(tx, name)) ?? noPartner(name);
      const isAsBefore = given === undefined || sameRanges(before.allowedAddresses, addresses);
      const allowedAddresses = isAsBefore ? before.allowedAddresses : addresses;
      const after = { ...before, status: status ?? before.status, allowedAddresses };
      const audit = [
        ...(isAsBefore ? [] : [partnerAllowed(before, addresses)]),
        ...(after.status === before.status ? [] : [partnerStatusSet(before, after.status)]),
      ];
      const change = { write: () => sql.updatePartner(tx, after), audit };
      return { answer: partnerData(after), change: audit.length === 0 ? undefined : change };
    });
  },
});

export const limitPartner = operation({
  ...AS,
  http: "PATCH /partners/:name/limits",
  summary: "Limit the calls and look-ups of a partner",
  input: Type.Object({ name: PartnerName, ...Type.Partial(Type.Object(LIMITS)).properties }),
  answer: PartnerSchema,
  cli: [
    {
      words: "partner limits",
      summary: "limit the calls and look-ups of a partner, or show the limits",
      arguments: BY_NAME,
      show: ["name", ...Object.keys(LIMITS)],
      examples: ["topupd partner limits Bank", "topupd partner limits Bank --rate 200 --new-look-ups 2000"],
    },
  ],
  async run(office, { name, ...given }) {
    return decide(office, "reference", async (tx) => {
      const before = (await sql.findPartner(tx, name)) ?? noPartner(name);
      const after = { ...before, limits: { ...before.limits, ...given } };
      const change = { write: () => sql.updatePartner(tx, after), audit: [partnerLimited(before, after.limits)] };
      const names = Object.keys(LIMITS) as (keyof PartnerLimits)[];
      const isAsBefore = names.every((each) => after.limits[each] === before.limits[each]);
      return { answer: partnerData(after), change: isAsBefore ? undefined : change };
    });
  },
});

function readAddresses(texts: readonly string[]): AddressList {
  const ranges = texts.map((text) => {
    const range = readAddressRange(text.trim());
    if (typeof range === "string") return range;
    throw Refused.field("allowedAddresses", `${range.problem}, but one is ${JSON.stringify(text)}`);
  });
  return new AddressList([...new Set(ranges)]);
}

export const operations: readonly Operation[] = [listPartners, addPartner, showPartner, changePartner, limitPartner];
