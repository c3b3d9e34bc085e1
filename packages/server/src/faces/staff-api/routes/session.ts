import { Type } from "typebox";
import { calendarOf } from "../../../domain/calendar.ts";
import { NUMBER_GROUPINGS } from "../../../domain/money.ts";
import { Refused } from "../../../domain/refused.ts";
import { ALL_PERMISSIONS, PERMISSIONS } from "../../../domain/staff.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import {
  EnvironmentSchema,
  environmentOf,
  InstantSchema,
  oneOf,
  onePage,
  orNull,
  pageOf,
  RoleSchema,
} from "../../../office/common.ts";
import { logIn } from "../../../office/session/log-in.ts";
import {
  changeOwnPassword,
  confirmOwnTotp,
  endOwnSession,
  listOwnSessions,
  offerOwnTotp,
  switchOwnTotpOff,
} from "../../../office/session/own-account.ts";
import { LogInWaySchema } from "../../../office/staff/operations.ts";
import { momentOf } from "../../../store/ports.ts";
import type { AdminPorts, Identity } from "../ports.ts";
import { Problem } from "../problems.ts";
import { personOf, route, tooManyAttempts } from "../route.ts";
import { canAddFirstAdmin } from "./setup.ts";

/* Log-in, log-out, and changes of people's own accounts. */

const TAG = "Session and own account";

const PeriodSchema = Type.Object({ from: Type.String(), to: Type.String() });
const LineSchema = orNull(Type.String());

export const MeSchema = Type.Object(
  {
    name: Type.String(),
    role: RoleSchema,
    sellerOf: orNull(Type.String({ description: "The partner of a seller, at the counter." })),
    permissions: Type.Array(oneOf(ALL_PERMISSIONS), {
      description: "None while `mustSetUp` is set.",
    }),
    sessionId: orNull(Type.String({ description: "Id of the log-in; null for an API key." })),
    hasTotp: Type.Boolean({ description: "Whether a log-in needs a one-time code." }),
    requiresTotp: Type.Boolean({ description: "Whether the role requires one-time codes." }),
    logsInWith: orNull(LogInWaySchema),
    mustSetUp: orNull(
      oneOf(["password", "totp"], "What you must do first: change the password, or switch one-time codes on."),
    ),
    provider: Type.Object(
      {
        timeZone: Type.String(),
        currencyExponent: Type.Integer({ description: "Decimals of the currency." }),
        currency: Type.Union([Type.String(), Type.Null()], { description: "ISO 4217; null if it is not set." }),
        letterhead: Type.Object(
          { name: LineSchema, address: LineSchema, number: LineSchema, tax: LineSchema },
          { description: "The provider's lines on printed settlements; null if not set." },
        ),
        numberGrouping: oneOf(NUMBER_GROUPINGS, "How digits are grouped: 1,234,567 or 12,34,567."),
        environment: EnvironmentSchema,
        calendar: Type.Object(
          {
            today: Type.String(),
            months: Type.Array(Type.String(), { description: "The last 13 with this one, newest first." }),
            presets: Type.Object({
              today: PeriodSchema,
              yesterday: PeriodSchema,
              week: PeriodSchema,
              month: PeriodSchema,
              lastMonth: PeriodSchema,
            }),
          },
          { title: "Calendar", description: "Days and months of the provider's clock, to choose from." },
        ),
        version: Type.String({ description: "Version of topupd." }),
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
    current: Type.Boolean({ description: "Whether it is the session of this request." }),
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

export const LogInWaysSchema = Type.Object(
  {
    password: Type.Boolean(),
    issuer: orNull(Type.String({ description: "Host name of the OpenID Connect issuer; null if it is not set." })),
    firstAdmin: Type.Boolean({ description: "Whether you can add the first admin, with the code of the log." }),
  },
  { title: "LogInWays" },
);

export const sessionRoutes = [
  route({
    method: "GET",
    path: "/session/ways",
    tag: TAG,
    permission: "public",
    summary: "Show how people can log in",
    answer: LogInWaysSchema,
    handle: async (ports) => ({
      password: ports.passwordLogIn,
      issuer: ports.issuer?.host ?? null,
      firstAdmin: await canAddFirstAdmin(ports),
    }),
  }),
  route({
    method: "POST",
    path: "/session",
    tag: TAG,
    permission: "public",
    status: 201,
    summary: "Log in",
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 64 }),
      password: Type.String({ minLength: 1, maxLength: 256 }),
      code: Type.Optional(Type.String({ maxLength: 64, description: "A one-time code, or a recovery code." })),
    }),
    answer: MeSchema,
    problems: ["wrong_credentials", "code_required", "too_many_attempts", "password_off"],
    async handle(ports, { body, visitor }) {
      if (!ports.passwordLogIn) throw new Problem("password_off");
      const done = await logIn(ports, { ...body, ...visitor });
      if (done.kind === "too_many_attempts") throw tooManyAttempts(done);
      if (done.kind !== "logged_in") throw new Problem(done.kind);
      visitor.keepLogIn(done);
      return describe(ports, done.identity);
    },
  }),
  route({
    method: "GET",
    path: "/session",
    tag: TAG,
    permission: "caller",
    summary: "Show the caller and the provider",
    answer: MeSchema,
    handle: (ports, { identity }) => describe(ports, identity),
  }),
  route({
    method: "DELETE",
    path: "/session",
    tag: TAG,
    permission: "person",
    summary: "Log out",
    async handle(ports, { identity, visitor }) {
      const person = personOf(identity);
      await endOwnSession(ports, person, { id: person.person.sessionId });
      visitor.forgetSession();
    },
  }),
  route({
    method: "GET",
    path: "/session/all",
    tag: TAG,
    permission: "person",
    summary: "List your own sessions",
    answer: pageOf(StaffSessionSchema),
    async handle(ports, { identity }) {
      const person = personOf(identity);
      const sessions = await listOwnSessions(ports, person);
      return onePage(
        sessions.map(({ id, createdAt, lastUsedAt, address = null, userAgent = null }) => ({
          id,
          createdAt: isoTime(createdAt),
          lastUsedAt: isoTime(lastUsedAt),
          address,
          userAgent,
          current: id === person.person.sessionId,
        })),
      );
    },
  }),
  route({
    method: "DELETE",
    path: "/session/all/:id",
    tag: TAG,
    permission: "person",
    summary: "End one of your own sessions",
    params: Type.Object({ id: Type.String() }),
    async handle(ports, { identity, params }) {
      if (!(await endOwnSession(ports, personOf(identity), params))) throw new Problem("not_found");
    },
  }),
  route({
    method: "PUT",
    path: "/session/password",
    tag: TAG,
    permission: "person",
    asksPassword: true,
    summary: "Change your own password, and end your other sessions",
    body: Type.Object({ password: Type.String() }),
    async handle(ports, { identity, body }) {
      const done = await changeOwnPassword(ports, personOf(identity), body);
      if (done.kind === "bad_password") throw Refused.field("password", done.problem);
    },
  }),
  route({
    method: "POST",
    path: "/session/totp",
    tag: TAG,
    permission: "person",
    isSecret: true,
    asksPassword: true,
    summary: "Begin to switch one-time codes on; confirm it with a code within ten minutes",
    answer: TotpOfferSchema,
    handle: (ports, { identity }) => offerOwnTotp(ports, personOf(identity)),
  }),
  route({
    method: "PUT",
    path: "/session/totp",
    tag: TAG,
    permission: "person",
    isSecret: true,
    summary: "Switch one-time codes on; recovery codes are shown only once",
    body: Type.Object({ code: Type.String({ maxLength: 64 }) }),
    answer: RecoveryCodesSchema,
    problems: ["conflict"],
    async handle(ports, { identity, body }) {
      const done = await confirmOwnTotp(ports, personOf(identity), body);
      if (done.kind === "wrong_code") throw Refused.field("code", "is wrong or has expired: use the current code");
      if (done.kind === "no_offer") throw new Problem("conflict", "Nothing to confirm: begin again.");
      return { recoveryCodes: [...done.recoveryCodes] };
    },
  }),
  route({
    method: "DELETE",
    path: "/session/totp",
    tag: TAG,
    permission: "person",
    asksPassword: true,
    summary: "Switch one-time codes off, unless your role requires them",
    problems: ["conflict"],
    handle: (ports, { identity }) => switchOwnTotpOff(ports, personOf(identity)),
  }),
];

async function describe(ports: AdminPorts, { name, role, person }: Pick<Identity, "name" | "role" | "person">) {
  const { zone, currencyExponent } = ports.store.provider;
  const token = person?.tokenHash && (await ports.store.findAccessToken(person.tokenHash));
  const environment = token?.environment ?? (await environmentOf(ports));
  return {
    name,
    role,
    sellerOf: token?.partner.name ?? null,
    permissions: person?.mustSetUp === undefined ? [...PERMISSIONS[role]] : [],
    sessionId: person?.sessionId ?? null,
    hasTotp: person?.hasTotp === true,
    requiresTotp: person?.requiresTotp === true,
    logsInWith: person?.logsInWith ?? null,
    mustSetUp: person?.mustSetUp ?? null,
    provider: {
      timeZone: zone.name,
      currencyExponent,
      currency: ports.currency ?? null,
      letterhead: ports.letterhead,
      numberGrouping: ports.numberGrouping,
      environment,
      calendar: calendarOf(momentOf(ports).wall.slice(0, 10)),
      version: ports.version,
    },
  };
}
