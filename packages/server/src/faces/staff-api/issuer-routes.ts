import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressList } from "../../domain/address-list.ts";
import type { AskedLogIn, IssuerProblem } from "../../domain/issuer.ts";
import { LONGEST_MS } from "../../domain/staff.ts";
import { logInFromIssuer } from "../../office/session/from-issuer.ts";
import { beginAttempt, sourceOf } from "../../office/session/log-in.ts";
import { PROOF_COUNTS_MS } from "../../office/session/own-account.ts";
import { type Handshake, type Issuer, IssuerFailure } from "../../system/oidc.ts";
import type { AdminPorts } from "./ports.ts";
import type { Visitor } from "./route.ts";
import { visitorOf } from "./security.ts";

/* Log-in with OpenID Connect. The browser goes to the issuer and comes back, so both answers are redirects. */

interface IssuerServing {
  readonly ports: AdminPorts;
  readonly trustedProxies: AddressList | undefined;
  readonly issuer: Issuer;
}

/** A log-in under way, in a signed cookie. */
interface Journey extends Handshake, AskedLogIn {
  /** Path to which the person returns. */
  readonly to: string;
}

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
  const { clock } = ports;

  const fail = (
    request: FastifyRequest,
    reply: FastifyReply,
    { origin }: Visitor,
    outcome: IssuerProblem,
    journey?: Journey,
  ) => {
    request.outcome = `oidc_${outcome}`;
    const page = new URL(pathOf(journey?.to, origin), origin);
    page.searchParams.set("logInProblem", outcome);
    return reply.redirect(page.href);
  };
  /** Does a part of a log-in. @param work returns where the browser goes. */
  const attempt = async (
    request: FastifyRequest,
    reply: FastifyReply,
    visitor: Visitor,
    journey: Journey,
    work: () => Promise<string>,
  ): Promise<FastifyReply> => {
    const failed = { staff: undefined, address: visitor.address };
    try {
      return await reply.redirect(await work());
    } catch (error) {
      // Otherwise the issuer has no part in it.
      if (!(error instanceof IssuerFailure)) throw error;
      ports.logInFailed({ outcome: "wrong_credentials", ...failed, cause: error.message });
      return fail(request, reply, visitor, error.outcome, journey);
    }
  };

  api.get("/session/oidc", { config }, async (request, reply) => {
    const visitor = visitorOf(request, reply, ports, trustedProxies);
    const { origin } = visitor;
    const { to, proof } = request.query as Readonly<Record<string, unknown>>;
    const secret = () => Buffer.from(ports.random(RANDOM_BYTES)).toString("base64url");
    const maxAgeMs = proof === "yes" ? PROOF_COUNTS_MS : LONGEST_MS;
    const journey: Journey = {
      ...{ state: secret(), nonce: secret(), verifier: secret() },
      ...{ at: clock(), maxAgeMs, to: pathOf(to, origin) },
    };
    return attempt(request, reply, visitor, journey, async () => {
      const page = await issuer.pageFor(journey, `${origin}${place}/callback`, maxAgeMs / 1000);
      const { name, attributes } = cookieAt(origin);
      const value = Buffer.from(JSON.stringify(journey)).toString("base64url");
      reply.setCookie(name, value, { ...attributes, signed: true, maxAge: JOURNEY_MS / 1000 });
      return page;
    });
  });

  api.get("/session/oidc/callback", { config }, async (request, reply) => {
    const visitor = visitorOf(request, reply, ports, trustedProxies);
    const { origin } = visitor;
    const { name, attributes } = cookieAt(origin);
    const journey = journeyIn(request, name);
    reply.clearCookie(name, attributes);
    // Not counted: any page could make a browser send such requests.
    if (journey === undefined || !(clock() - journey.at <= JOURNEY_MS)) return fail(request, reply, visitor, "failed");
    // Counts as failed until it is done: it costs the issuer a call. The start costs nobody anything.
    const source = await sourceOf(ports.store.engine.db, visitor);
    const begun = await beginAttempt(ports, { name: "", source, isKnown: false });
    if ("waitMs" in begun) {
      ports.logInFailed({ outcome: "too_many_attempts", staff: undefined, address: visitor.address });
      return fail(request, reply, visitor, "too_many_attempts", journey);
    }
    return attempt(request, reply, visitor, journey, async () => {
      const person = await issuer.personOf(journey, new URL(request.url, origin));
      const asked = { issuer: issuer.host, asked: journey, device: visitor };
      const done = await logInFromIssuer(ports, person, asked);
      if (done.kind !== "logged_in") throw new IssuerFailure(done.kind, `refused: ${done.kind}`);
      await begun.succeeded();
      visitor.keepLogIn(done);
      request.identity = done.identity;
      return `${origin}${pathOf(journey.to, origin)}`;
    });
  });
}

/** The cookie of a journey. Over HTTPS, its prefix stops other hosts of the domain from setting it. */
function cookieAt(origin: string) {
  const secure = origin.startsWith("https:");
  const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure } as const;
  return { name: `${secure ? "__Host-" : ""}topupd_oidc`, attributes };
}

/** @returns a path of the console; the first page if the text is none. */
function pathOf(text: unknown, origin: string): string {
  if (typeof text !== "string" || text.length > LONGEST_PATH || !URL.canParse(text, origin)) return "/";
  const { pathname, search, origin: named } = new URL(text, origin);
  return named === origin ? pathname + search : "/";
}

/** @returns undefined unless topupd began the journey. */
function journeyIn(request: FastifyRequest, name: string): Journey | undefined {
  const { valid, value } = request.unsignCookie(request.cookies[name] ?? "");
  return valid ? (JSON.parse(Buffer.from(value, "base64url").toString()) as Journey) : undefined;
}
