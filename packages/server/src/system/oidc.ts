import { createHash } from "node:crypto";
import type { Configuration, CustomFetchOptions } from "openid-client";
import { findClaim, type IssuerPerson, type IssuerProblem, nameOfClaims, roleOfClaim } from "../domain/issuer.ts";
import { AnswerBody, AnswerFailed, requestOnce } from "./http-client.ts";

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

/** No answer of the issuer, or one that is not whole. The library passes on a TypeError, as `fetch` throws it. */
class NoAnswer extends TypeError {
  override readonly name = "NoAnswer";
}

/** The library's `fetch`. Node's own skips informational answers without end, and reads a body of any length. */
async function fetchWhole(url: string, { method, headers, body, signal }: CustomFetchOptions): Promise<Response> {
  const limit = signal ?? AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
  // The library posts only forms.
  const form = body instanceof URLSearchParams ? body.toString() : "";
  try {
    const answer = await requestOnce(new URL(url), { agent: false, method, headers, signal: limit }, form);
    const read = new AnswerBody(answer, MOST_BYTES);
    await read.until(() => false, limit);
    limit.throwIfAborted();
    if (read.failure !== undefined) throw read.failure;
    const pairs = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    return new Response(read.bytes.length === 0 ? null : read.bytes, {
      status: answer.statusCode ?? 0,
      headers: pairs,
    });
  } catch (error) {
    limit.throwIfAborted();
    if (error instanceof AnswerFailed) throw new NoAnswer(error.message);
    const { code } = error as { readonly code?: unknown };
    throw new NoAnswer(typeof code === "string" ? `the issuer did not answer (${code})` : "the issuer did not answer");
  }
}

const OUTAGES = ["OAUTH_TIMEOUT", "OAUTH_RESPONSE_IS_NOT_CONFORM", "OAUTH_RESPONSE_IS_NOT_JSON"];

/** Whether the issuer cannot be reached, takes too long, sends too much or no JSON. */
function isOutage(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return error instanceof NoAnswer || OUTAGES.includes(code ?? "");
}

const LONGEST_CODE = 60;

/** The library's messages are fixed. The issuer's code is such as `invalid_client`. */
function messageOf(error: unknown): string {
  const { message, cause, error: stated } = error as Error & { readonly error?: unknown };
  const [challenge] = (Array.isArray(cause) ? cause : []) as readonly { parameters?: { error?: unknown } }[];
  const code = stated ?? challenge?.parameters?.error;
  return typeof code === "string" ? `${message}: ${code.slice(0, LONGEST_CODE)}` : message;
}
