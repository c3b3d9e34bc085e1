import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type AddressList, callerAddress } from "../../domain/address-list.ts";
import { isStaffKey, PERMISSIONS } from "../../domain/staff.ts";
import { identifyPerson, identifySystem } from "../../office/session/log-in.ts";
import { hasTwoAuthorizations } from "../../system/port-guard.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import { Problem } from "./problems.ts";
import type { Route, Visitor } from "./route.ts";

const COOKIE = "topupd_session";
const BEARER = /^Bearer +([^ ]+) *$/i;

/** Of every answer. Scripts come from this host alone, and none stands in a page. */
export const SECURITY_HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Lets a request in, or not, before its body is read. @throws Problem */
export async function admit(
  ports: AdminPorts,
  { permission, asksPassword }: Pick<Route, "permission" | "asksPassword">,
  request: FastifyRequest,
  trustedProxies: AddressList | undefined,
): Promise<Identity | undefined> {
  const { authorization } = request.headers;
  if (hasTwoAuthorizations(request.raw)) throw new Problem("invalid", "Send one Authorization header.");
  // To log in gives a cookie, whatever else is sent.
  const isByCookie = permission === "anybody" || authorization === undefined;
  if (isByCookie && !isSameOrigin(request, trustedProxies)) throw new Problem("cross_site");
  if (permission === "anybody") return undefined;
  const identity = await identify(ports, request);
  if (identity === undefined) throw new Problem("not_logged_in");
  if (permission !== "person" && !PERMISSIONS[identity.role].includes(permission)) throw new Problem("forbidden");
  const isForPeople = permission === "person" || asksPassword === true;
  if (isForPeople && identity.person === undefined) throw new Problem("sessions_only");
  return identity;
}

/** Tells who asks: by the header where there is one, otherwise by the cookie. */
async function identify(ports: AdminPorts, { headers, cookies }: FastifyRequest): Promise<Identity | undefined> {
  if (headers.authorization !== undefined) {
    const key = BEARER.exec(headers.authorization)?.[1];
    return key === undefined ? undefined : identifySystem(ports, key);
  }
  const token = cookies[COOKIE];
  return token === undefined ? undefined : identifyPerson(ports, token);
}

/**
 * Whether a browser sent it from a page of this very origin, or somebody typed its address. Over HTTPS browsers say so in
 * Sec-Fetch-Site; over plain HTTP a changing request has its Origin. What says neither is no browser, and has no cookie
 * that it was not given by hand.
 */
function isSameOrigin({ headers, raw }: FastifyRequest, trustedProxies: AddressList | undefined): boolean {
  const { origin, "sec-fetch-site": site } = headers;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === hostOf({ headers, raw }, trustedProxies)?.toLowerCase();
}

function hostOf({ headers, raw }: Pick<FastifyRequest, "headers" | "raw">, trustedProxies: AddressList | undefined) {
  const isProxied = trustedProxies?.has(raw.socket.remoteAddress) === true;
  const forwarded = isProxied ? headers["x-forwarded-host"] : undefined;
  return forwarded === undefined ? headers.host : String(forwarded);
}

/**
 * Whether a request names the console's own host, so that no page of another site reaches it by pointing that site's name
 * at this address. A request with a key comes from no such page, unless it asks for what is open to anybody.
 */
export function isKnownHost(
  request: FastifyRequest,
  trustedProxies: AddressList | undefined,
  names: ReadonlySet<string> | undefined,
): boolean {
  const host = hostOf(request, trustedProxies);
  const isByKey = isStaffKey(BEARER.exec(request.headers.authorization ?? "")?.[1] ?? "");
  if (host === undefined || (isByKey && request.routeOptions.config.permission !== "anybody")) return true;
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
  return name === "localhost" || isIP(name.replace(/^\[|\]$/g, "")) !== 0 || names?.has(name) === true;
}

/** Where a request comes from, and what its browser keeps. */
export function visitorOf(
  { headers, raw }: FastifyRequest,
  reply: FastifyReply,
  trustedProxies: AddressList | undefined,
): Visitor {
  const { remoteAddress } = raw.socket;
  const isProxied = trustedProxies?.has(remoteAddress) === true;
  const secure = isProxied && headers["x-forwarded-proto"] === "https";
  const attributes = { path: "/", httpOnly: true, sameSite: "strict", secure } as const;
  return {
    address: callerAddress(remoteAddress, headers["x-forwarded-for"], trustedProxies),
    userAgent: headers["user-agent"],
    keepToken: (token) => {
      if (token === undefined) reply.clearCookie(COOKIE, attributes);
      else reply.setCookie(COOKIE, token, attributes);
    },
  };
}
