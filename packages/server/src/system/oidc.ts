import { createHash } from "node:crypto";
import type { Configuration } from "openid-client";
import { findClaim, type IssuerPerson, type IssuerProblem, nameOfClaims, roleOfClaim } from "../domain/issuer.ts";

/* Log-in with an OpenID Connect issuer: authorization code with PKCE. */

export interface OidcSettings {
  readonly issuer: string;
  readonly client: string;
  /** Undefined for a public client. */
  readonly secret: string | undefined;
  /** Name of the claim with the role, or a path to it. */
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
  readonly outcome: IssuerProblem;

  constructor(outcome: IssuerProblem, message: string) {
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
/** Time for each answer of the issuer, including its body. */
const TIMEOUT_SECONDS = 10;
const MOST_BYTES = 1024 * 1024;
const TOO_LARGE = "the issuer's answer is larger than 1 MiB";

/**
 * The library is loaded, and the issuer asked for its addresses, at the first log-in.
 * @param timeout in seconds; shorter in tests.
 */
export function oidcIssuer(
  { issuer, client, secret, roleClaim }: OidcSettings,
  timeout: number = TIMEOUT_SECONDS,
): Issuer {
  const library = () => import("openid-client");
  const discover = async () => {
    const { allowInsecureRequests, ClientSecretBasic, customFetch, discovery, enableNonRepudiationChecks, None } =
      await library();
    const isPlain = issuer.startsWith("http:");
    return discovery(new URL(issuer), client, undefined, secret === undefined ? None() : ClientSecretBasic(secret), {
      [customFetch]: fetchWhole,
      execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
      timeout,
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
          role: roleOfClaim(findClaim(claims, roleClaim)),
          authTime: proved.auth_time,
        };
      } catch (error) {
        throw new IssuerFailure(isOutage(error) ? "unavailable" : "failed", messageOf(error));
      }
    },
  };
}

/** Reads the body here: the library would not say that it came too slowly, and reads any length. */
async function fetchWhole(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new TypeError(TOO_LARGE);
    chunks.push(chunk);
  }
  return new Response(response.body && Buffer.concat(chunks), response);
}

const OUTAGES = ["OAUTH_TIMEOUT", "OAUTH_RESPONSE_IS_NOT_CONFORM", "OAUTH_RESPONSE_IS_NOT_JSON"];

/** Messages of the TypeErrors of `fetch` and of a body that breaks off. */
const NO_ANSWER = ["fetch failed", "terminated", TOO_LARGE];

/** Whether the issuer cannot be reached, takes too long, sends too much or no JSON. */
function isOutage(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return (error instanceof TypeError && NO_ANSWER.includes(error.message)) || OUTAGES.includes(code ?? "");
}

const LONGEST_CODE = 60;

/** The library's messages are fixed. The issuer's code is such as `invalid_client`. */
function messageOf(error: unknown): string {
  const { message, cause, error: stated } = error as Error & { readonly error?: unknown };
  const [challenge] = (Array.isArray(cause) ? cause : []) as readonly { parameters?: { error?: unknown } }[];
  const code = stated ?? challenge?.parameters?.error;
  return typeof code === "string" ? `${message}: ${code.slice(0, LONGEST_CODE)}` : message;
}
