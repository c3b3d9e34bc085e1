import { Type } from "typebox";
import { MOST_ADDRESS_RANGES } from "../../domain/address-list.ts";
import { EnvironmentSchema, InstantSchema, oneOf, orNull } from "../common.ts";

export const PartnerName = Type.String({ description: "The partner's name." });

export const StatusSchema = oneOf(["active", "suspended"]);

export const AddressesSchema = orNull(
  Type.Array(Type.String(), {
    minItems: 1,
    maxItems: MOST_ADDRESS_RANGES,
    description: "Addresses, and ranges such as 203.0.113.0/24; null for any.",
  }),
);

export const PartnerSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    status: StatusSchema,
    createdAt: InstantSchema,
    allowedAddresses: orNull(Type.Array(Type.String(), { description: "Null if calls may come from anywhere." })),
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

export const TokenId = Type.String({ description: "The token's id, as a list shows it." });

export const ExpiresAt = Type.Optional(
  Type.String({
    description:
      "When a production token ends: its last day, such as 2026-11-20, or an instant. A trial token always ends after 7 days.",
  }),
);

const TOKEN = {
  id: Type.String({ description: "Names the token; it is not the token." }),
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

const ISSUED = { ...TOKEN, token: Type.String({ description: "Shown this once." }) };
export const IssuedTokenSchema = Type.Object(ISSUED, { title: "IssuedToken" });
export const RotatedTokenSchema = Type.Object(
  { ...ISSUED, formerId: Type.String(), formerUntil: InstantSchema },
  { title: "RotatedToken" },
);
