import { Type } from "typebox";
import { PERMISSIONS } from "../../domain/staff.ts";
import { isoTime } from "../../services/staff/data.ts";
import { logIn } from "../../services/staff/log-in.ts";
import {
  changeOwnPassword,
  confirmOwnTotp,
  endOwnSession,
  listOwnSessions,
  offerOwnTotp,
  type Person,
  switchOwnTotpOff,
} from "../../services/staff/own-account.ts";
import type { AdminPorts, Identity } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";
import {
  badField,
  EnvironmentSchema,
  environmentOf,
  InstantSchema,
  oneOf,
  onePage,
  orNull,
  pageOf,
  RoleSchema,
} from "../schemas/common.ts";

/* Logging in and out, and what people change of their own accounts. */

const TAG = "Session and own account";

export const MeSchema = Type.Object(
  {
    name: Type.String(),
    role: RoleSchema,
    permissions: Type.Array(oneOf(["read", "correct", "settle", "administer"])),
    sessionId: orNull(Type.String({ description: "Of the log-in; null for an API key." })),
    hasTotp: Type.Boolean({ description: "Whether a log-in takes a one-time code." }),
    provider: Type.Object(
      {
        timeZone: Type.String(),
        currencyExponent: Type.Integer({ description: "Decimals of the currency." }),
        currency: Type.Union([Type.String(), Type.Null()], { description: "ISO 4217; null where it is not set." }),
        environment: EnvironmentSchema,
        version: Type.String({ description: "Of topupd." }),
      },
      { title: "Provider" },
    ),
  },
  { title: "Me" },
);

export const StaffSessionSchema = Type.Object(
  {
    id: Type.String(),
    createdAt: InstantSchema,
    lastUsedAt: InstantSchema,
    address: orNull(Type.String()),
    userAgent: orNull(Type.String()),
    current: Type.Boolean({ description: "Whether it is the one that asks." }),
  },
  { title: "StaffSession" },
);

export const TotpOfferSchema = Type.Object(
  { secret: Type.String(), uri: Type.String({ description: "`otpauth://`, for a QR code." }) },
  { title: "TotpOffer" },
);

export const RecoveryCodesSchema = Type.Object(
  { recoveryCodes: Type.Array(Type.String()) },
  { title: "RecoveryCodes" },
);

const Secret = Type.String({ minLength: 1, maxLength: 256 });
const WithPassword = Type.Object({ password: Secret });

export const sessionRoutes = [
  route({
    ...{ method: "POST", path: "/session", tag: TAG, permission: "anybody", status: 201 },
    summary: "Log in",
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 64 }),
      password: Secret,
      code: Type.Optional(Type.String({ maxLength: 64, description: "A one-time code, or a recovery code." })),
    }),
    answer: MeSchema,
    problems: ["wrong_credentials", "code_required", "too_many_attempts"],
    async handle(ports, { body, visitor }) {
      const { address, userAgent, keepToken } = visitor;
      const done = await logIn(ports, { ...body, address, userAgent });
      if (done.kind !== "logged_in") throw refused(done);
      keepToken(done.token);
      const { id, name, role, hasTotp } = done.member;
      return describe(ports, { name, role, person: { id, sessionId: done.sessionId, hasTotp } });
    },
  }),
  route({
    ...{ method: "GET", path: "/session", tag: TAG, permission: "read" },
    summary: "Tell who is logged in, and of which provider",
    answer: MeSchema,
    handle: (ports, { identity }) => describe(ports, identity),
  }),
  route({
    ...{ method: "DELETE", path: "/session", tag: TAG, permission: "person" },
    summary: "Log out",
    async handle(ports, { identity, visitor }) {
      const person = personOf(identity);
      await endOwnSession(ports, person, { id: person.person.sessionId });
      visitor.keepToken(undefined);
    },
  }),
  route({
    ...{ method: "GET", path: "/session/all", tag: TAG, permission: "person" },
    summary: "List one's own log-ins",
    answer: pageOf(StaffSessionSchema),
    async handle(ports, { identity }) {
      const person = personOf(identity);
      const sessions = await listOwnSessions(ports, person);
      return onePage(
        sessions.map(({ id, createdAt, lastUsedAt, address = null, userAgent = null }) => ({
          ...{ id, createdAt: isoTime(createdAt), lastUsedAt: isoTime(lastUsedAt), address, userAgent },
          current: id === person.person.sessionId,
        })),
      );
    },
  }),
  route({
    ...{ method: "DELETE", path: "/session/all/:id", tag: TAG, permission: "person" },
    summary: "End one of one's own log-ins",
    params: Type.Object({ id: Type.String() }),
    async handle(ports, { identity, params }) {
      if (!(await endOwnSession(ports, personOf(identity), params))) throw new Problem("not_found");
    },
  }),
  route({
    ...{ method: "PUT", path: "/session/password", tag: TAG, permission: "person" },
    summary: "Change one's own password, which ends the other log-ins",
    body: Type.Object({ current: Secret, password: Type.String() }),
    problems: ["too_many_attempts"],
    async handle(ports, { identity, body }) {
      const done = await changeOwnPassword(ports, personOf(identity), body);
      if (done.kind === "wrong_password") throw badField("current", "is not your password");
      if (done.kind === "bad_password") throw badField("password", done.problem);
      if (done.kind !== "changed") throw refused(done);
    },
  }),
  route({
    ...{ method: "POST", path: "/session/totp", tag: TAG, permission: "person", isSecret: true },
    summary: "Begin to switch one-time codes on; nothing holds until a code confirms it, within ten minutes",
    body: WithPassword,
    answer: TotpOfferSchema,
    problems: ["too_many_attempts"],
    async handle(ports, { identity, body }) {
      const done = await offerOwnTotp(ports, personOf(identity), body);
      if (done.kind === "wrong_password") throw badField("password", "is not your password");
      if (done.kind !== "offered") throw refused(done);
      return done.offer;
    },
  }),
  route({
    ...{ method: "PUT", path: "/session/totp", tag: TAG, permission: "person", isSecret: true },
    summary: "Switch one-time codes on; recovery codes are shown this once",
    body: Type.Object({ code: Type.String({ maxLength: 64 }) }),
    answer: RecoveryCodesSchema,
    problems: ["conflict"],
    async handle(ports, { identity, body }) {
      const done = await confirmOwnTotp(ports, personOf(identity), body);
      if (done.kind === "wrong_code") throw badField("code", "is wrong, or is not of this moment");
      if (done.kind === "no_offer") throw new Problem("conflict", "No offer is open: begin again.");
      return { recoveryCodes: [...done.recoveryCodes] };
    },
  }),
  route({
    ...{ method: "DELETE", path: "/session/totp", tag: TAG, permission: "person" },
    summary: "Switch one-time codes off",
    body: WithPassword,
    problems: ["too_many_attempts"],
    async handle(ports, { identity, body }) {
      const done = await switchOwnTotpOff(ports, personOf(identity), body);
      if (done.kind === "wrong_password") throw badField("password", "is not your password");
      if (done.kind !== "changed") throw refused(done);
    },
  }),
];

async function describe(ports: AdminPorts, { name, role, person }: Identity) {
  const { zone, currencyExponent } = ports.store.provider;
  const environment = await environmentOf(ports);
  return {
    ...{ name, role, permissions: [...PERMISSIONS[role]] },
    ...{ sessionId: person?.sessionId ?? null, hasTotp: person?.hasTotp === true },
    provider: {
      ...{ timeZone: zone.name, currencyExponent, currency: ports.currency ?? null, environment },
      version: ports.version,
    },
  };
}

/** Of a route that only people are let in to. */
function personOf(identity: Identity): Person {
  if (identity.person === undefined) throw new Problem("sessions_only");
  return { ...identity, person: identity.person };
}

function refused(
  refusal: { readonly kind: "wrong_credentials" | "code_required" } | { kind: "too_many_attempts"; waitMs: number },
): Problem {
  if (refusal.kind !== "too_many_attempts") return new Problem(refusal.kind);
  return new Problem(refusal.kind, undefined, undefined, Math.ceil(refusal.waitMs / 1000));
}
