import {
  ACCESS_TOKEN_RANDOM_BYTES,
  type AccessToken,
  formatAccessToken,
  hashAccessToken,
  type Partner,
  TRIAL_TOKEN_VALID_MS,
} from "../domain/access-token.ts";
import type { Instant } from "../domain/calendar.ts";
import type { Environment } from "../domain/customer.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";

const ID_RANDOM_BYTES = 9;

export interface IssuedToken {
  /** Shown once, and stored nowhere. */
  readonly token: string;
  readonly record: AccessToken;
}

/**
 * Issues an access token (interface, section 5). A trial token always ends seven days later.
 * @param expiresAt for a production token; undefined where it lasts until revoked.
 */
export async function issueToken(
  ports: StaffPorts,
  partner: Partner,
  environment: Environment,
  expiresAt?: Instant,
): Promise<IssuedToken> {
  const { store, random } = ports;
  const by = attributionOf(ports);
  const token = formatAccessToken(environment, random(ACCESS_TOKEN_RANDOM_BYTES));
  const record = {
    id: makeTokenId(random),
    partner,
    environment,
    createdAt: by.at,
    expiresAt: environment === "trial" ? by.at + TRIAL_TOKEN_VALID_MS : expiresAt,
    revokedAt: undefined,
    replacedBy: undefined,
  };
  await store.addAccessToken(record, hashAccessToken(token), by);
  return { token, record };
}

export function makeTokenId(random: StaffPorts["random"]): string {
  return `tok_${Buffer.from(random(ID_RANDOM_BYTES)).toString("hex")}`;
}
