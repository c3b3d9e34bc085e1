import { createHash } from "node:crypto";
import type { Configuration } from "openid-client";
import { type IssuerPerson, nameOfClaims, roleOfClaim } from "../domain/issuer.ts";

/* Log-in with an OpenID Connect issuer: authorization code with PKCE. */

export interface OidcSettings {
  readonly issuer: string;
  readonly client: string;
  /** Undefined for a public client. */
  readonly secret: string | undefined;
  /** Name of the claim with the role. */
  readonly roleClaim: string;
}

/** Secrets of one log-in, which the browser keeps until it comes back. */
export interface Handshake {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Why a log-in failed. The message contains no secret. */
export class IssuerFailure extends Error {
  override readonly name = "IssuerFailure";
  readonly outcome: "unavailable" | "failed";

  constructor(outcome: IssuerFailure["outcome"], message: string) {
    super(message);
    this.outcome = outcome;
  }
}

export interface Issuer {
  /** Host name, for people. */
  readonly host: string;
  /**
   * @param back address to which the issuer sends the browser back.
   * @param maxAgeSeconds longest time since the person proved who they are.
   * @returns the issuer's page. @throws IssuerFailure
   */
  pageFor(handshake: Handshake, back: string, maxAgeSeconds: number): Promise<string>;
  /** @param came address to which the browser came back. @throws IssuerFailure */
  personOf(handshake: Handshake, came: URL): Promise<IssuerPerson>;
}

const SCOPE = "openid profile email";
const TIMEOUT_SECONDS = 10;

/** The library is loaded, and the issuer asked for its addresses, at the first log-in. */
export function oidcIssuer({ issuer, client, secret, roleClaim }: OidcSettings): Issuer {
  const library = () => import("openid-client");
  const discover = async () => {
    const { allowInsecureRequests, ClientSecretBasic, discovery, enableNonRepudiationChecks, None } = await library();
    const isPlain = issuer.startsWith("http:");
    return discovery(new URL(issuer), client, undefined, secret === undefined ? None() : ClientSecretBasic(secret), {
      execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
      timeout: TIMEOUT_SECONDS,
    });
  };
  let discovering: Promise<Configuration> | undefined;
  const discovered = () => {
    discovering ??= discover().catch((error: unknown) => {
      discovering = undefined;
      throw new IssuerFailure("unavailable", messageOf(error));
    });
    return discovering;
  };
  return {
    host: new URL(issuer).host,
    async pageFor({ state, nonce, verifier }, back, maxAgeSeconds) {
      const configuration = await discovered();
      const { buildAuthorizationUrl } = await library();
      return buildAuthorizationUrl(configuration, {
        ...{ redirect_uri: back, scope: SCOPE, state, nonce },
        ...{ code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256" },
        // The issuer then states when the person proved who they are.
        max_age: String(maxAgeSeconds),
      }).href;
    },
    async personOf({ state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier }, came) {
      const configuration = await discovered();
      const { authorizationCodeGrant, fetchUserInfo } = await library();
      try {
        const checks = { expectedState, expectedNonce, pkceCodeVerifier };
        const tokens = await authorizationCodeGrant(configuration, came, checks);
        const proved = tokens.claims();
        if (proved === undefined) throw new Error("the issuer sent no ID token");
        const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
        const more = hasMore ? await fetchUserInfo(configuration, tokens.access_token, proved.sub) : {};
        const claims: Record<string, unknown> = { ...more, ...proved };
        return {
          subject: `${proved.iss} ${proved.sub}`,
          name: nameOfClaims(claims["preferred_username"], claims["email"]),
          role: roleOfClaim(claims[roleClaim]),
          authenticatedAt: proved.auth_time === undefined ? undefined : proved.auth_time * 1000,
        };
      } catch (error) {
        throw new IssuerFailure(isOutage(error) ? "unavailable" : "failed", messageOf(error));
      }
    },
  };
}

const OUTAGES = ["OAUTH_TIMEOUT", "OAUTH_RESPONSE_IS_NOT_CONFORM", "OAUTH_RESPONSE_IS_NOT_JSON"];

/** Whether the issuer cannot be reached, takes too long or sends no JSON. */
function isOutage(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return (error instanceof TypeError && error.message === "fetch failed") || OUTAGES.includes(code ?? "");
}

const LONGEST_CODE = 60;

/** The library's messages are fixed. The issuer's code is such as `invalid_client`. */
function messageOf(error: unknown): string {
  const { message, cause, error: stated } = error as Error & { readonly error?: unknown };
  const [challenge] = (Array.isArray(cause) ? cause : []) as readonly { parameters?: { error?: unknown } }[];
  const code = stated ?? challenge?.parameters?.error;
  return typeof code === "string" ? `${message}: ${code.slice(0, LONGEST_CODE)}` : message;
}
