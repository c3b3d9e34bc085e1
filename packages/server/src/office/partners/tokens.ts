import { Type } from "typebox";
import {
  ACCESS_TOKEN_RANDOM_BYTES,
  type AccessToken,
  formatAccessToken,
  hashSecret,
  rotateAccessToken,
  TRIAL_TOKEN_VALID_MS,
} from "../../domain/access-token.ts";
import { tokenIssued, tokenRevoked, tokenRotated } from "../../domain/audit.ts";
import { Refused } from "../../domain/refused.ts";
import { type Instant, isoTimeOrNull, readDay } from "../../domain/wall-time.ts";
import { EnvironmentSchema, onePage, pageOf, readIsoInstant } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import {
  AccessTokenSchema,
  ExpiresAt,
  IssuedTokenSchema,
  issuedLines,
  noPartner,
  PartnerName,
  RotatedTokenSchema,
  rotatedLines,
  TokenId,
  tokenData,
  tokenLines,
  tokenTable,
} from "./presenter.ts";
import * as sql from "./sql.ts";

/* Access tokens of partners. */

const AS = { tag: "Partners", permission: "administer" } as const;
/** The answer holds a token, which is shown once. */
const ISSUES = { ...AS, status: 201, isSecret: true } as const;
const HOUR_MS = 3_600_000;
const MOST_OVERLAP_HOURS = 365 * 24;
const USUAL_OVERLAP_HOURS = 24;
const ID_RANDOM_BYTES = 9;

export const listTokens = operation({
  tag: "Partners",
  permission: "read",
  http: "GET /partners/:partner/tokens",
  summary: "List access tokens; their values are not shown",
  input: Type.Object({ partner: Type.Optional(PartnerName) }),
  answer: pageOf(AccessTokenSchema),
  cli: [
    {
      words: "token list",
      summary: "list access tokens with their last use (up to 30 seconds late); their values are not shown",
      show: tokenTable,
      examples: ["topupd token list", "topupd token list --json"],
    },
  ],
  async run({ store, clock }, { partner: name }) {
    const { db } = store.engine;
    const partner = name === undefined ? undefined : ((await sql.findPartner(db, name)) ?? noPartner(name));
    const [tokens, uses] = [await sql.readTokens(db, partner), await sql.readLastUses(db)];
    return onePage(tokens.map((token) => tokenData(token, clock(), uses.get(token.id))));
  },
});

export const issueToken = operation({
  ...ISSUES,
  http: "POST /partners/:partner/tokens",
  summary: "Issue an access token; it is shown once and not stored",
  input: Type.Object({
    partner: PartnerName,
    environment: Type.Optional({
      ...EnvironmentSchema,
      description: "Environment of the token (default: production).",
    }),
    expiresAt: ExpiresAt,
  }),
  answer: IssuedTokenSchema,
  cli: [
    {
      words: "token issue",
      show: issuedLines,
      examples: [
        "topupd token issue --partner Bank --environment trial",
        "topupd token issue --partner Bank --expires-at 2027-12-31",
      ],
    },
  ],
  async run(office, { partner: name, environment = "production", expiresAt: given }) {
    if (environment === "trial" && given !== undefined)
      throw Refused.field("expiresAt", "is for production tokens: a trial token always ends after 7 days");
    const expiresAt = readExpiry(office, given);
    const { at } = office.by;
    const [id, token] = [makeTokenId(office), formatAccessToken(environment, office.random(ACCESS_TOKEN_RANDOM_BYTES))];
    return decide(office, "reference", async (tx) => {
      const partner = (await sql.findPartner(tx, name)) ?? noPartner(name);
      const issued: AccessToken = {
        id,
        partner,
        environment,
        createdAt: at,
        expiresAt: environment === "trial" ? at + TRIAL_TOKEN_VALID_MS : expiresAt,
        revokedAt: undefined,
        replacedBy: undefined,
      };
      const write = () => sql.insertToken(tx, issued, hashSecret(token));
      const answer = { ...tokenData(issued, at), token, isCertified: partner.certifiedAt !== undefined };
      return { answer, change: { write, audit: [tokenIssued(issued)] } };
    });
  },
});

export const rotateToken = operation({
  ...ISSUES,
  http: "POST /tokens/:id/rotation",
  summary: "Replace an access token; the old one stays valid for the overlap",
  refuses: ["conflict"],
  input: Type.Object({
    id: TokenId,
    overlapHours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: MOST_OVERLAP_HOURS,
        description: `Hours for which the old token stays valid (default: ${USUAL_OVERLAP_HOURS}).`,
      }),
    ),
    expiresAt: ExpiresAt,
  }),
  answer: RotatedTokenSchema,
  cli: [
    {
      words: "token rotate",
      arguments: ["id"],
      show: rotatedLines,
      examples: [
        "topupd token rotate tok_521b2246ae3995b2da",
        "topupd token rotate tok_521b2246ae3995b2da --overlap-hours 0",
      ],
    },
  ],
  async run(office, { id, overlapHours = USUAL_OVERLAP_HOURS, expiresAt: given }) {
    const overlapMs = Math.round(overlapHours * HOUR_MS);
    const terms = { id: makeTokenId(office), overlapMs, expiresAt: readExpiry(office, given) ?? "as_before" } as const;
    const random = office.random(ACCESS_TOKEN_RANDOM_BYTES);
    const { at } = office.by;
    return decide(office, "reference", async (tx) => {
      const before = (await sql.findTokenById(tx, id)) ?? noToken();
      const seller = await sql.findSellerOfToken(tx, id);
      if (seller !== undefined)
        throw new Refused(
          "conflict",
          `this token is of the seller ${seller}, who needs no other: nobody has its value`,
        );
      const rotated = rotateAccessToken(before, terms, at);
      if (rotated.kind === "replaced")
        throw new Refused("conflict", `this token was replaced by ${before.replacedBy} already: rotate that one`);
      if (rotated.kind !== "rotated") throw new Refused("conflict", REFUSALS[rotated.kind]);
      const { former, successor } = rotated;
      const token = formatAccessToken(before.environment, random);
      const write = async () => {
        await sql.updateTokenEnd(tx, former);
        await sql.insertToken(tx, successor, hashSecret(token));
      };
      const replaced = { formerId: former.id, formerUntil: isoTimeOrNull(former.expiresAt) ?? "" };
      const audit = [tokenRotated(before, former), tokenIssued(successor)];
      return { answer: { ...tokenData(successor, at), token, ...replaced }, change: { write, audit } };
    });
  },
});

const REFUSALS = {
  revoked: "this token was revoked: issue a new one",
  ended: "this token has ended: issue a new one",
} as const;

export const revokeToken = operation({
  ...AS,
  http: "DELETE /tokens/:id",
  summary: "Revoke an access token; it stops working within a second",
  input: Type.Object({ id: TokenId }),
  answer: AccessTokenSchema,
  cli: [
    {
      words: "token revoke",
      arguments: ["id"],
      show: tokenLines,
      examples: ["topupd token revoke tok_521b2246ae3995b2da"],
    },
  ],
  async run(office, { id }) {
    return decide(office, "reference", async (tx) => {
      const before = (await sql.findTokenById(tx, id)) ?? noToken();
      const after = { ...before, revokedAt: before.revokedAt ?? office.by.at };
      const answer = tokenData(after, office.by.at, (await sql.readLastUses(tx)).get(id));
      if (before.revokedAt !== undefined) return { answer };
      const change = { write: () => sql.updateTokenEnd(tx, after), audit: [tokenRevoked(before, office.by.at)] };
      return { answer, change };
    });
  },
});

/** Reads the last day of a token, or an instant. @throws Refused */
function readExpiry({ store, clock }: Office, text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const at = readIsoInstant(text) ?? readDay(text, store.provider.zone)?.last;
  if (at === undefined)
    throw Refused.field("expiresAt", "must be a day such as 2026-11-20, or a time in ISO 8601 with its zone");
  if (at <= clock()) throw Refused.field("expiresAt", "must be in the future");
  return at;
}

export function makeTokenId({ random }: Pick<Office, "random">): string {
  return `tok_${Buffer.from(random(ID_RANDOM_BYTES)).toString("hex")}`;
}

function noToken(): never {
  throw new Refused("not_found", "there is no token with this id: look at the list of tokens");
}

export const operations: readonly Operation[] = [listTokens, issueToken, rotateToken, revokeToken];
