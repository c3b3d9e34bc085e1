import { type Static, Type } from "typebox";
import { type AccessToken, hasTokenEnded, type LegalLines, type Partner } from "../../domain/access-token.ts";
import { BALANCE_STATES, LIMIT_NAMES } from "../../domain/account.ts";
import { MOST_ADDRESS_RANGES } from "../../domain/address-list.ts";
import type { Money } from "../../domain/money.ts";
import { DEFAULT_LIMITS, NO_LIMIT } from "../../domain/partner-limits.ts";
import { Refused } from "../../domain/refused.ts";
import { type Instant, isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { AmountSchema, EnvironmentSchema, formatOrNull, InstantSchema, oneOf, orNull } from "../common.ts";
import type { Shown } from "../operation.ts";
import { printable, table } from "../text.ts";

export const PartnerName = Type.String({ description: "The partner's name." });

export const StatusSchema = oneOf(["active", "suspended"]);

export const AddressesSchema = orNull(
  Type.Array(Type.String(), {
    minItems: 1,
    maxItems: MOST_ADDRESS_RANGES,
    description: "Addresses, and ranges such as 203.0.113.0/24; null for any.",
  }),
);

const limit = (counts: string, standard: number) =>
  Type.Integer({
    minimum: 1,
    maximum: NO_LIMIT,
    description: `${counts} (default: ${standard}; ${NO_LIMIT}: no limit).`,
  });

export const LIMITS = {
  rate: limit("Calls a second", DEFAULT_LIMITS.rate),
  burst: limit("Calls at once after a pause", DEFAULT_LIMITS.burst),
  newLookUps: limit(
    "Look-ups of strangers an hour: customers never topped up, unknown and ambiguous codes",
    DEFAULT_LIMITS.newLookUps,
  ),
};

/** Limits of top-ups, in answers. */
export const SALE_LIMITS = {
  topUpAmount: orNull({ ...AmountSchema, description: "Highest price of a top-up; null: no limit." }),
  dayAmount: orNull({ ...AmountSchema, description: "Highest sum of prices a day; null: no limit." }),
  dayTopUps: orNull(Type.Integer({ description: "Most top-ups a day; null: no limit." })),
};

const lineInput = (line: string) =>
  Type.Optional(
    Type.String({
      pattern: "^(?:[^\\p{C}]|[\\u200c\\u200d]){0,200}$",
      "x-problem": "must be one line of up to 200 characters",
      description: `${line} on printed papers; empty: none.`,
    }),
  );
/** Lines of a partner on papers, as an input. */
export const LEGAL_INPUT = {
  legalName: lineInput("Legal name"),
  address: lineInput("Address"),
  taxNumber: lineInput("Tax number, such as PAN 301234567,"),
  contact: lineInput("Person or office to contact"),
};
const LineSchema = orNull(Type.String());

export const BalanceStateSchema = oneOf(
  BALANCE_STATES,
  "`low`: below the alert's bound; `spent`: nothing is available, so top-ups are refused.",
);

export const PartnerSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    status: StatusSchema,
    createdAt: InstantSchema,
    allowedAddresses: orNull(Type.Array(Type.String(), { description: "Null means any address." })),
    certifiedAt: orNull(InstantSchema),
    ...LIMITS,
    ...SALE_LIMITS,
    ...{ legalName: LineSchema, address: LineSchema, taxNumber: LineSchema, contact: LineSchema },
  },
  { title: "Partner" },
);

export const ShownPartnerSchema = Type.Object(
  {
    ...PartnerSchema.properties,
    refusedToday: Type.Array(
      Type.Object({
        reason: oneOf(["insufficient_balance", "limit_reached"]),
        limit: orNull(oneOf(LIMIT_NAMES)),
        count: Type.Integer(),
        amount: AmountSchema,
      }),
      { description: "Top-ups that the balance or a limit refused today, the most first." },
    ),
  },
  { title: "ShownPartner" },
);

export const ListedPartnerSchema = Type.Object(
  {
    ...ShownPartnerSchema.properties,
    state: oneOf(
      ["suspended", "refused_today", "spent", "low", "active"],
      "What needs attention first: `refused_today` by balance or limit; `spent` and `low` balances.",
    ),
    available: orNull({ ...AmountSchema, description: "Balance and credit limit; null without a credit limit." }),
    balanceState: BalanceStateSchema,
    validTokens: Type.Integer(),
    lastUsedAt: orNull(Type.String({ description: "Last use of any token of the partner." })),
  },
  { title: "ListedPartner" },
);

export const TokenId = Type.String({ description: "Id of the token, as the list shows it." });

export const ExpiresAt = Type.Optional(
  Type.String({
    description:
      "End of a production token: its last day, such as 2026-11-20, or an instant. A trial token always ends after 7 days.",
  }),
);

const TOKEN = {
  id: Type.String({ description: "Id of the token, not its value." }),
  partner: Type.String(),
  environment: EnvironmentSchema,
  state: oneOf(["valid", "expired", "revoked"]),
  createdAt: InstantSchema,
  expiresAt: orNull(InstantSchema),
  revokedAt: orNull(InstantSchema),
  replacedBy: orNull(Type.String()),
  lastUsedAt: orNull(InstantSchema),
};
export const AccessTokenSchema = Type.Object(TOKEN, { title: "AccessToken" });

const ISSUED = { ...TOKEN, token: Type.String({ description: "Shown only once." }) };
export const IssuedTokenSchema = Type.Object(
  { ...ISSUED, isCertified: Type.Boolean({ description: "Whether the partner has a practice certificate." }) },
  { title: "IssuedToken" },
);
export const RotatedTokenSchema = Type.Object(
  { ...ISSUED, formerId: Type.String(), formerUntil: InstantSchema },
  { title: "RotatedToken" },
);

/* Partners and tokens in answers and on terminals. */

export function partnerData(partner: Partner, provider: Pick<ProviderSettings, "currencyExponent">) {
  const { id, name, status, createdAt, allowedAddresses, certifiedAt } = partner;
  const addresses = allowedAddresses === undefined ? null : [...allowedAddresses.ranges];
  const common = { id, name, status, createdAt: isoTime(createdAt), allowedAddresses: addresses };
  const times = { certifiedAt: isoTimeOrNull(certifiedAt) };
  return { ...common, ...times, ...limitsData(partner, provider), ...legalData(partner.legal) };
}

export function legalData({ legalName, address, taxNumber, contact }: LegalLines) {
  return {
    legalName: legalName ?? null,
    address: address ?? null,
    taxNumber: taxNumber ?? null,
    contact: contact ?? null,
  };
}

type ListedPartner = Static<typeof ListedPartnerSchema>;

export function listedState(
  { status }: Partner,
  balance: ListedPartner["balanceState"],
  isRefused: boolean,
): ListedPartner["state"] {
  if (status === "suspended") return status;
  if (isRefused) return "refused_today";
  return balance === "good" ? "active" : balance;
}

const LIST_COLUMNS = ["id", "name", "state", "available", "refusedToday", "lastUsedAt", "allowedAddresses"];

/** Partners as a table; `-` means any amount, and any address. */
export function listLines({ items }: { readonly items: readonly ListedPartner[] }): Shown {
  const rows = items.map(({ refusedToday, ...partner }) => {
    const refused = refusedToday.map(({ reason, limit, count }) => `${count} ${limit ?? reason}`);
    return { ...partner, refusedToday: refused.join(", ") || null };
  });
  return { out: table(LIST_COLUMNS, rows) };
}

export function limitsData(
  { limits, terms }: Partner,
  { currencyExponent }: Pick<ProviderSettings, "currencyExponent">,
) {
  const { topUpAmount, dayAmount, dayTopUps = null } = terms.limits;
  const inFull = (amount: Money | undefined) => formatOrNull(amount, currencyExponent);
  return { ...limits, topUpAmount: inFull(topUpAmount), dayAmount: inFull(dayAmount), dayTopUps };
}

/** @param lastUse the last accepted request; requests of the last half minute may be missing. */
export function tokenData(token: AccessToken, now: Instant, lastUse?: Instant) {
  const { id, partner, environment, createdAt, expiresAt, revokedAt, replacedBy } = token;
  return {
    id,
    partner: partner.name,
    environment,
    state: tokenState(token, now),
    createdAt: isoTime(createdAt),
    expiresAt: isoTimeOrNull(expiresAt),
    revokedAt: isoTimeOrNull(revokedAt),
    replacedBy: replacedBy ?? null,
    lastUsedAt: isoTimeOrNull(lastUse),
  };
}

export function tokenState(token: AccessToken, now: Instant): "valid" | "expired" | "revoked" {
  if (token.revokedAt !== undefined) return "revoked";
  return hasTokenEnded(token, now) ? "expired" : "valid";
}

/** @throws Refused */
export function noPartner(name: string): never {
  throw new Refused("not_found", `there is no partner named ${name}`);
}

type TokenData = Static<typeof AccessTokenSchema>;

const TIMES = ["createdAt", "expiresAt", "revokedAt", "lastUsedAt"] as const;

/** Tokens as a table. Times are the provider's wall times, so that a token's last day is the day in the request. */
export function tokenTable({ items }: { readonly items: readonly TokenData[] }, provider: ProviderSettings): Shown {
  const rows = items.map((token) => {
    const inZone = TIMES.map((name) => [name, wallTime(token[name], provider)]);
    return { ...token, ...Object.fromEntries(inZone) };
  });
  return { out: table(["id", "partner", "environment", "state", ...TIMES], rows) };
}

export function tokenLines(token: TokenData, provider: ProviderSettings): Shown {
  return tokenTable({ items: [token] }, provider);
}

type IssuedToken = Static<typeof IssuedTokenSchema>;

export function issuedLines(issued: IssuedToken, provider: ProviderSettings): Shown {
  const { partner, environment, isCertified } = issued;
  const { out, note } = newTokenLines(issued, provider);
  const isWarned = environment === "production" && !isCertified;
  const warning = `${printable(partner)} has no practice certificate: see topupd partner practice --help.\n`;
  return { out, note: isWarned ? note + warning : note };
}

/** Only the token goes to stdout, so that a shell can use it. */
function newTokenLines(issued: Omit<IssuedToken, "isCertified">, provider: ProviderSettings) {
  const { token, id, partner, environment, expiresAt } = issued;
  const end = expiresAt === null ? "until it is revoked" : `until ${wallTime(expiresAt, provider)}`;
  const of = `a ${environment} token of ${printable(partner)}, has the id ${id}, and is valid ${end}`;
  return { out: `${token}\n`, note: `This is the only time that the token is shown. It is ${of}.\n` };
}

export function rotatedLines(rotated: Static<typeof RotatedTokenSchema>, provider: ProviderSettings): Shown {
  const { out, note } = newTokenLines(rotated, provider);
  const until = wallTime(rotated.formerUntil, provider);
  return { out, note: `${note}The old token ${rotated.formerId} is valid until ${until}.\n` };
}

function wallTime(time: string | null, { zone }: ProviderSettings): string | null {
  return time === null ? null : zone.wallTime(Date.parse(time));
}
