import type { ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type AddressList, callerAddress } from "../../domain/address-list.ts";
import type { Authority } from "../../domain/authority.ts";
import { isStaffKey, PERMISSIONS, type SetUp } from "../../domain/staff.ts";
import type { Target } from "../../domain/target.ts";
import { identifyPerson, identifySystem } from "../../office/session/log-in.ts";
import { findTargetByKey } from "../../office/targets/sql.ts";
import { hasRights } from "../../store/rights.ts";
import { countHeaders, YEAR_SECONDS } from "../../system/port-guard.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import { Problem } from "./problems.ts";
import type { Route, Visitor } from "./route.ts";

/** A browser sends the cookies of a host to all its ports. */
const cookieOf = ({ isCounter }: Pick<AdminPorts, "isCounter">) => (isCounter ? "topupd_counter" : "topupd_session");
const DEVICE_COOKIE = /^topupd_device_(\d{1,15})$/;
const BEARER = /^Bearer +([^ ]+) *$/i;

const CHECKED_EVERY_MS = 1_000;

/** Sent with every answer. Scripts load from this host only; none is inline. */
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

const SET_UP: Readonly<Record<SetUp, string>> = {
  password: "Another person set your password: change it first.",
  totp: "Your role requires one-time codes: switch them on first.",
};

/** Admits a request before its body is read. @throws Problem */
export async function admit(
  ports: AdminPorts,
  { path, permission, asksPassword }: Pick<Route, "path" | "permission" | "asksPassword">,
  request: FastifyRequest,
  trustedProxies: AddressList | undefined,
): Promise<Identity | undefined> {
  const { authorization } = request.headers;
  if (countHeaders(request.raw, "authorization") > 1) throw new Problem("invalid", "Send one Authorization header.");
  // A log-in sets a cookie, so its origin is checked even if a key is sent.
  const isByCookie = permission === "public" || authorization === undefined;
  if (isByCookie && !isSameOrigin(request, trustedProxies)) throw new Problem("cross_site");
  if (permission === "public") return undefined;
  const identity = await identify(ports, request);
  if (identity === undefined) throw new Problem("not_logged_in");
  const isForAll = permission === "person" || permission === "caller";
  const isAllowed = isForAll || PERMISSIONS[identity.role].some((each) => each === permission);
  if (!isAllowed) throw new Problem("forbidden");
  const { mustSetUp } = identity.person ?? {};
  if (mustSetUp !== undefined && !/^\/session(\/|$)/.test(path)) throw new Problem("set_up_first", SET_UP[mustSetUp]);
  const isForPeople = permission === "person" || asksPassword === true;
  if (isForPeople && identity.person === undefined) throw new Problem("sessions_only");
  return identity;
}

/** Admits the receiver of a webhook by the key of its target, which no other route takes. @throws Problem */
export async function admitReceiver(
  { store }: Pick<AdminPorts, "store">,
  { headers: { authorization = "" } }: FastifyRequest,
): Promise<Target> {
  const target = await findTargetByKey(store.engine.db, BEARER.exec(authorization)?.[1] ?? "");
  if (target === undefined) throw new Problem("not_logged_in", "Send the key of a target: topupd target key NAME.");
  return target;
}

/** Identifies the caller by the Authorization header, or by the cookie if there is no header. */
async function identify(ports: AdminPorts, { headers, cookies }: FastifyRequest): Promise<Identity | undefined> {
  if (headers.authorization !== undefined) {
    const key = BEARER.exec(headers.authorization)?.[1];
    return key === undefined ? undefined : identifySystem(ports, key);
  }
  const token = cookies[cookieOf(ports)];
  // Pages that read again by themselves must not keep an unattended session open.
  const isUse = headers["topupd-poll"] === undefined;
  const found = token === undefined ? undefined : await identifyPerson(ports, token, isUse);
  if (typeof found === "string") throw new Problem("not_logged_in", found);
  return found;
}

/**
 * Whether the request comes from a page of this origin, from a typed address, or from no browser. Browsers send
 * Sec-Fetch-Site over HTTPS, and Origin with a changing request over plain HTTP. A request without both is no browser's.
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
 * Whether the request names a host of the console. This stops DNS rebinding, where another site's name points to this IP
 * address. A request with a key needs no check, unless its route is public.
 */
export function isKnownHost(
  request: FastifyRequest,
  trustedProxies: AddressList | undefined,
  names: ReadonlySet<string> | undefined,
): boolean {
  const host = hostOf(request, trustedProxies);
  const isByKey = isStaffKey(BEARER.exec(request.headers.authorization ?? "")?.[1] ?? "");
  const { permission } = request.routeOptions.config;
  if (host === undefined || permission === "target" || (isByKey && permission !== "public")) return true;
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
  return name === "localhost" || isIP(name.replace(/^\[|\]$/g, "")) !== 0 || names?.has(name) === true;
}

/** Whether the browser's connection, which a proxy may end, is HTTPS. */
export function isSecure(
  { headers, raw }: Pick<FastifyRequest, "headers" | "raw">,
  trustedProxies: AddressList | undefined,
): boolean {
  return trustedProxies?.has(raw.socket.remoteAddress) === true && headers["x-forwarded-proto"] === "https";
}

/** Reads the origin of a request, and sets its cookies. */
export function visitorOf(
  request: FastifyRequest,
  reply: FastifyReply,
  ports: Pick<AdminPorts, "isCounter">,
  trustedProxies: AddressList | undefined,
): Visitor {
  const { headers, raw, cookies } = request;
  const cookie = cookieOf(ports);
  const { remoteAddress } = raw.socket;
  const secure = isSecure({ headers, raw }, trustedProxies);
  const attributes = { path: "/", httpOnly: true, sameSite: "strict", secure } as const;
  const host = hostOf({ headers, raw }, trustedProxies) ?? "";
  return {
    origin: `${secure ? "https" : "http"}://${host}`,
    address: callerAddress(remoteAddress, headers["x-forwarded-for"], trustedProxies),
    userAgent: headers["user-agent"],
    secrets: new Map(
      Object.entries(cookies).flatMap(([name, value = ""]) => {
        const [, id] = DEVICE_COOKIE.exec(name) ?? [];
        return id === undefined ? [] : [[Number(id), value] as const];
      }),
    ),
    keepLogIn({ token, deviceSecret, identity }) {
      reply.setCookie(cookie, token, attributes);
      // The issuer's answer comes from another site.
      const lasting = { ...attributes, sameSite: "lax", maxAge: YEAR_SECONDS } as const;
      reply.setCookie(`topupd_device_${identity.person?.id}`, deviceSecret, lasting);
    },
    forgetSession() {
      reply.clearCookie(cookie, attributes);
    },
  };
}

/** Sockets of open requests. A socket is closed when its caller's rights end, even during an upload or download. */
export class OpenSockets {
  readonly #ports: Pick<AdminPorts, "store" | "sleep">;
  readonly #rights = new Map<ServerResponse, Authority>();

  constructor(ports: Pick<AdminPorts, "store" | "sleep">) {
    this.#ports = ports;
  }

  /** Adds a request until it is answered. The next one on its socket is admitted again. */
  add(response: ServerResponse, authority: Authority): void {
    this.#rights.set(response, authority);
    response.once("close", () => this.#rights.delete(response));
  }

  /** Checks every second until the signal. It asks the database, since any process may end a session. */
  async keepChecking(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      await this.#ports.sleep(CHECKED_EVERY_MS, ending);
      // If the database is unavailable, the next check is a second later.
      await this.#closeEnded().catch(() => {});
    }
  }

  async #closeEnded(): Promise<void> {
    for (const [response, authority] of this.#rights) {
      const { socket } = response.req;
      // A response whose socket closed before it was added gets no close event.
      if (socket.destroyed) this.#rights.delete(response);
      else if (!(await hasRights(this.#ports.store.engine.db, authority)) && this.#rights.has(response))
        socket.destroy();
    }
  }
}
