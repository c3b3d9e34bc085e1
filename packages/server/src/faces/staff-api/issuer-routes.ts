import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressList } from "../../domain/address-list.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { logInFromIssuer, type RefusedPerson } from "../../office/session/from-issuer.ts";
import { LONGEST_MS } from "../../office/session/log-in.ts";
import { PROOF_COUNTS_MS } from "../../office/session/own-account.ts";
import { type Handshake, type Issuer, IssuerFailure } from "../../system/oidc.ts";
import type { AdminPorts } from "./ports.ts";
import { visitorOf } from "./security.ts";

/* Log-in with OpenID Connect. The browser goes to the issuer and comes back, so both answers are redirects. */

interface IssuerServing {
  readonly ports: AdminPorts;
  readonly trustedProxies: AddressList | undefined;
  readonly issuer: Issuer;
}

/** Values of a log-in under way. They are in a cookie, so that any process can finish the log-in. */
interface Journey extends Handshake {
  readonly at: Instant;
  /** Path to which the person returns. */
  readonly to: string;
  /** Whether the person must prove to the issuer who they are, unless they just did. */
  readonly isProof: boolean;
}

const COOKIE = "topupd_oidc";
const JOURNEY_MS = 10 * 60_000;
const RANDOM_BYTES = 32;
const LONGEST_PATH = 1_000;

/** @param prefix start of every path. */
export function addIssuerRoutes(
  api: FastifyInstance,
  { ports, trustedProxies, issuer }: IssuerServing,
  prefix: string,
): void {
  const place = `${prefix}/session/oidc`;
  const config = { permission: "public" } as const;
  const { clock, log } = ports;

  const fail = (request: FastifyRequest, reply: FastifyReply, outcome: IssuerFailure["outcome"] | RefusedPerson) => {
    request.outcome = `oidc_${outcome}`;
    return reply.redirect(`${visitorOf(request, reply, trustedProxies).origin}/?logInProblem=${outcome}`);
  };
  /** @throws the error if the issuer has no part in it. */
  const failOf = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    if (!(error instanceof IssuerFailure)) throw error;
    log("warn", { cause: error.message }, "a log-in with the OpenID Connect issuer failed");
    return fail(request, reply, error.outcome);
  };

  api.get("/session/oidc", { config }, async (request, reply) => {
    const { origin } = visitorOf(request, reply, trustedProxies);
    const { to, proof } = request.query as Readonly<Record<string, unknown>>;
    const secret = () => Buffer.from(ports.random(RANDOM_BYTES)).toString("base64url");
    const journey: Journey = {
      ...{ state: secret(), nonce: secret(), verifier: secret() },
      ...{ at: clock(), to: pathOf(to, origin), isProof: proof === "yes" },
    };
    try {
      const since = journey.isProof ? PROOF_COUNTS_MS : LONGEST_MS;
      const page = await issuer.pageFor(journey, `${origin}${place}/callback`, since / 1000);
      reply.setCookie(COOKIE, Buffer.from(JSON.stringify(journey)).toString("base64url"), {
        ...{ path: place, httpOnly: true, sameSite: "lax", secure: origin.startsWith("https:") },
        maxAge: JOURNEY_MS / 1000,
      });
      return reply.redirect(page);
    } catch (error) {
      return failOf(request, reply, error);
    }
  });

  api.get("/session/oidc/callback", { config }, async (request, reply) => {
    const { origin, address, userAgent, keepToken } = visitorOf(request, reply, trustedProxies);
    const journey = journeyIn(request.cookies[COOKIE]);
    reply.clearCookie(COOKIE, { path: place });
    if (journey === undefined || !(clock() - journey.at <= JOURNEY_MS)) return fail(request, reply, "failed");
    try {
      const person = await issuer.personOf(journey, new URL(request.url, origin));
      // An issuer that does not say when was asked for a proof just now.
      const { authenticatedAt = journey.isProof ? clock() : undefined } = person;
      const device = { address, userAgent };
      const done = await logInFromIssuer(ports, { ...person, authenticatedAt }, issuer.host, device);
      if (done.kind !== "logged_in") return fail(request, reply, done.kind);
      keepToken(done.token);
      request.identity = done.identity;
      return reply.redirect(`${origin}${pathOf(journey.to, origin)}`);
    } catch (error) {
      return failOf(request, reply, error);
    }
  });
}

/** @returns a path of the console; the first page if the text is none. */
function pathOf(text: unknown, origin: string): string {
  if (typeof text !== "string" || text.length > LONGEST_PATH || !URL.canParse(text, origin)) return "/";
  const { pathname, search, origin: named } = new URL(text, origin);
  return named === origin ? pathname + search : "/";
}

/** @returns undefined if the cookie is missing or damaged. */
function journeyIn(cookie: string | undefined): Journey | undefined {
  try {
    return { ...(JSON.parse(Buffer.from(cookie ?? "", "base64url").toString()) as Journey) };
  } catch {
    return undefined;
  }
}
