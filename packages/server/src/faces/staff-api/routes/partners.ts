import { Type } from "typebox";
import type { Partner } from "../../../domain/access-token.ts";
import { AddressList, MOST_ADDRESS_RANGES, readAddressRange } from "../../../domain/address-list.ts";
import type { Instant } from "../../../domain/wall-time.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { readDay } from "../../../domain/zone.ts";
import {
  EnvironmentSchema,
  InstantSchema,
  oneOf,
  onePage,
  orNull,
  pageOf,
  readIsoInstant,
} from "../../../office/common.ts";
import { Refused } from "../../../office/refused.ts";
import { partnerData, tokenData } from "../../../services/staff/data.ts";
import {
  addPartner,
  issueToken,
  type ListedToken,
  listPartners,
  listTokens,
  revokeToken,
  rotateToken,
  setPartnerAddresses,
  setPartnerStatus,
} from "../../../services/staff/partners.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* Who may call, and with which tokens. */

const TAG = "Partners";
const HOUR_MS = 3_600_000;
const MOST_OVERLAP_HOURS = 365 * 24;
const USUAL_OVERLAP_HOURS = 24;

export const PartnerSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    status: oneOf(["active", "suspended"]),
    createdAt: InstantSchema,
    allowedAddresses: orNull(Type.Array(Type.String(), { description: "Null where calls may come from anywhere." })),
  },
  { title: "Partner" },
);

export const ListedPartnerSchema = Type.Object(
  {
    ...PartnerSchema.properties,
    validTokens: Type.Integer(),
    lastUsedAt: orNull(Type.String({ description: "When any token of the partner was last used." })),
  },
  { title: "ListedPartner" },
);

const TokenFields = {
  id: Type.String({ description: "Names the token; it is not the token." }),
  environment: EnvironmentSchema,
  state: oneOf(["valid", "expired", "revoked"]),
  createdAt: InstantSchema,
  expiresAt: orNull(InstantSchema),
  revokedAt: orNull(InstantSchema),
  replacedBy: orNull(Type.String()),
  lastUsedAt: orNull(InstantSchema),
};
const IssuedFields = { ...TokenFields, token: Type.String({ description: "Shown this once." }) };
export const AccessTokenSchema = Type.Object(TokenFields, { title: "AccessToken" });
export const IssuedTokenSchema = Type.Object(IssuedFields, { title: "IssuedToken" });
export const RotatedTokenSchema = Type.Object(
  { ...IssuedFields, formerId: Type.String(), formerUntil: InstantSchema },
  { title: "RotatedToken" },
);

const NAMED = Type.Object({ name: Type.String() });
const IDENTIFIED = Type.Object({ id: Type.String() });
const ExpiresAt = Type.Optional(
  Type.String({
    description:
      "When a production token ends: an instant, or the last day on which it holds. A trial token always ends after 7 days.",
  }),
);

export const partnerRoutes = [
  route({
    ...{ method: "GET", path: "/partners", tag: TAG, permission: "read" },
    summary: "List partners",
    answer: pageOf(ListedPartnerSchema),
    async handle(ports) {
      const tokens = await listTokens(ports);
      return onePage((await listPartners(ports)).map((partner) => listedData(partner, tokens)));
    },
  }),
  route({
    ...{ method: "POST", path: "/partners", tag: TAG, permission: "administer", status: 201 },
    summary: "Add a partner",
    body: Type.Object({ name: Type.String() }),
    answer: PartnerSchema,
    problems: ["conflict"],
    async handle(ports, { identity, body }) {
      const added = await addPartner(ports, identity, body);
      if (added.kind === "bad_name")
        throw Refused.field("name", "must have 1 to 64 characters, and no blank at either end");
      if (added.kind === "name_taken") throw new Problem("conflict", "There is a partner of this name already.");
      return partnerData(added.partner);
    },
  }),
  route({
    ...{ method: "GET", path: "/partners/:name", tag: TAG, permission: "read" },
    summary: "Show a partner",
    params: NAMED,
    answer: PartnerSchema,
    handle: async (ports, { params }) => partnerData(found(await ports.store.partners.find(params.name))),
  }),
  route({
    ...{ method: "PATCH", path: "/partners/:name", tag: TAG, permission: "administer" },
    summary: "Suspend a partner, let it call again, or limit from where it calls",
    params: NAMED,
    body: Type.Object({
      status: Type.Optional(oneOf(["active", "suspended"])),
      allowedAddresses: Type.Optional(
        orNull(
          Type.Array(Type.String(), {
            minItems: 1,
            maxItems: MOST_ADDRESS_RANGES,
            description: "Addresses, and ranges such as 203.0.113.0/24; null for any.",
          }),
        ),
      ),
    }),
    answer: PartnerSchema,
    async handle(ports, { identity, params: { name }, body: { status, allowedAddresses } }) {
      const addresses = allowedAddresses == null ? undefined : readAddresses(allowedAddresses);
      let partner = found(await ports.store.partners.find(name));
      if (allowedAddresses !== undefined)
        partner = found(await setPartnerAddresses(ports, identity, { name, addresses }));
      if (status !== undefined) partner = found(await setPartnerStatus(ports, identity, { name, status }));
      return partnerData(partner);
    },
  }),
  route({
    ...{ method: "GET", path: "/partners/:name/tokens", tag: TAG, permission: "read" },
    summary: "List a partner's access tokens, without what is secret",
    params: NAMED,
    answer: pageOf(AccessTokenSchema),
    async handle(ports, { params }) {
      const { id } = found(await ports.store.partners.find(params.name));
      return onePage((await listTokens(ports)).filter(({ token }) => token.partner.id === id).map(tokenData));
    },
  }),
  route({
    ...{ method: "POST", path: "/partners/:name/tokens", tag: TAG, permission: "administer" },
    ...{ status: 201, isSecret: true },
    summary: "Issue an access token",
    params: NAMED,
    query: Type.Object({ environment: Type.Optional(EnvironmentSchema) }),
    body: Type.Object({ expiresAt: ExpiresAt }),
    answer: IssuedTokenSchema,
    async handle(ports, { identity, params, query, body }) {
      const { environment = "production" } = query;
      const expiresAt = readExpiry(ports, body.expiresAt);
      if (environment === "trial" && expiresAt !== undefined)
        throw Refused.field("expiresAt", "is for production tokens: a trial token always ends after 7 days");
      const issued = await issueToken(ports, identity, { partner: params.name, environment, expiresAt });
      if (issued.kind === "no_partner") throw new Problem("not_found");
      return { ...(await tokenById(ports, issued.record.id)), token: issued.token };
    },
  }),
  route({
    ...{ method: "POST", path: "/tokens/:id/rotation", tag: TAG, permission: "administer" },
    ...{ status: 201, isSecret: true },
    summary: "Issue the token that takes the place of another, which ends after an overlap",
    params: IDENTIFIED,
    body: Type.Object({
      overlapHours: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: MOST_OVERLAP_HOURS,
          description: `For how long the old token still holds; ${USUAL_OVERLAP_HOURS} unless given.`,
        }),
      ),
      expiresAt: ExpiresAt,
    }),
    answer: RotatedTokenSchema,
    problems: ["conflict"],
    async handle(ports, { identity, params: { id }, body }) {
      const overlapMs = Math.round((body.overlapHours ?? USUAL_OVERLAP_HOURS) * HOUR_MS);
      const expiresAt = readExpiry(ports, body.expiresAt) ?? "as_before";
      const rotated = await rotateToken(ports, identity, { id, overlapMs, expiresAt });
      if (rotated.kind === "not_found") throw new Problem("not_found");
      if (rotated.kind === "replaced")
        throw new Problem(
          "conflict",
          `This token was replaced by ${rotated.token.replacedBy} already: rotate that one.`,
        );
      if (rotated.kind !== "rotated") throw new Problem("conflict", `This token is ${rotated.kind}: issue a new one.`);
      const { token, former, successor } = rotated;
      const formerUntil = isoTimeOrNull(former.expiresAt) ?? "";
      return { ...(await tokenById(ports, successor.id)), token, formerId: former.id, formerUntil };
    },
  }),
  route({
    ...{ method: "DELETE", path: "/tokens/:id", tag: TAG, permission: "administer" },
    summary: "Revoke an access token: within a second, it holds nowhere",
    params: IDENTIFIED,
    answer: AccessTokenSchema,
    async handle(ports, { identity, params }) {
      if ((await revokeToken(ports, identity, params)) === undefined) throw new Problem("not_found");
      return tokenById(ports, params.id);
    },
  }),
];

function listedData(partner: Partner, tokens: readonly ListedToken[]) {
  const own = tokens.filter(({ token }) => token.partner.id === partner.id);
  const used = own.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return {
    ...partnerData(partner),
    validTokens: own.filter(({ state }) => state === "valid").length,
    lastUsedAt: used.length === 0 ? null : isoTime(Math.max(...used)),
  };
}

function found(partner: Partner | undefined): Partner {
  if (partner === undefined) throw new Problem("not_found");
  return partner;
}

async function tokenById(ports: AdminPorts, id: string) {
  const listed = (await listTokens(ports)).find(({ token }) => token.id === id);
  if (listed === undefined) throw new Problem("not_found");
  return tokenData(listed);
}

function readAddresses(texts: readonly string[]): AddressList {
  const ranges = texts.map((text) => {
    const range = readAddressRange(text.trim());
    if (typeof range === "string") return range;
    throw Refused.field("allowedAddresses", `${range.problem}, but one is ${JSON.stringify(text)}`);
  });
  return new AddressList([...new Set(ranges)]);
}

function readExpiry({ store, clock }: AdminPorts, text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const at = readIsoInstant(text) ?? readDay(text, store.provider.zone)?.last;
  if (at === undefined) throw Refused.field("expiresAt", "must be a day, or a time in ISO 8601 with its zone");
  if (at <= clock()) throw Refused.field("expiresAt", "must be in the future");
  return at;
}
