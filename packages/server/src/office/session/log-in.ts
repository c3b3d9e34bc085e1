import { hashSecret } from "../../domain/access-token.ts";
import { networkOf } from "../../domain/address-list.ts";
import type { Authority, Role } from "../../domain/authority.ts";
import { STAFF_NAME } from "../../domain/names.ts";
import {
  FAILURE_COUNTS_MS,
  hashRecoveryCode,
  IDLE_MS,
  isStaffKey,
  LONGEST_MS,
  type LogInWay,
  logInWaitMs,
  logsInAt,
  SESSION_GONE,
  type SetUp,
  STAFF_SECRET_RANDOM_BYTES,
  type StaffMember,
  type StaffSession,
  sessionEnd,
  setUpOf,
} from "../../domain/staff.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import type { Actor } from "../office.ts";
import type { AccountPorts } from "../staff/passwords.ts";
import type { StaffSecrets } from "../staff/sql.ts";
import {
  beginLogIn,
  findKey,
  findKnownDevices,
  findSession,
  findStaff,
  forgetLogIn,
  openSession,
  pruneSessions,
  touchKey,
  touchSession,
  useCode,
} from "./sql.ts";

/** Shortest time between two records that a session or key was used. */
const NOTED_EVERY_MS = 60_000;

const SESSION_ID_RANDOM_BYTES = 9;
const ATTEMPT_ID_RANDOM_BYTES = 9;
const LONGEST_USER_AGENT = 200;

export interface FailedLogIn {
  readonly outcome: "wrong_credentials" | "too_many_attempts";
  /** Undefined if there is no such account: the text may be a password. */
  readonly staff: string | undefined;
  /** Undefined if it is not known, or if the password was asked for again within a session. */
  readonly address: string | undefined;
  /** Why the issuer did not log the person in. */
  readonly cause?: string;
}

export type LogInPorts = AccountPorts & {
  readonly logInFailed: (failed: FailedLogIn) => void;
  /** Roles that require one-time codes. */
  readonly totpRoles: ReadonlySet<Role>;
  readonly logInWays: ReadonlySet<LogInWay>;
  /** Whether people log in at the counter: sellers only, and nobody else there. */
  readonly isCounter: boolean;
};

/** The parts that a session needs. */
export type SessionPorts = Pick<LogInPorts, "store" | "clock" | "random" | "totpRoles" | "logInWays" | "isCounter">;

/** The device of a person who logs in. */
export interface Device {
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Secrets that earlier log-ins left on the device, by the id of their person. */
  readonly secrets: ReadonlyMap<number, string>;
}

export interface LogIn extends Device {
  readonly name: string;
  readonly password: string;
  /** A one-time code or a recovery code. */
  readonly code?: string | undefined;
}

export interface TooManyAttempts {
  readonly kind: "too_many_attempts";
  /** Milliseconds until the next log-in is allowed. */
  readonly waitMs: number;
}

/** `token` is the secret of the session. `deviceSecret` makes the device known: guesses from elsewhere cannot lock it. */
export interface OpenedSession {
  readonly kind: "logged_in";
  readonly token: string;
  readonly deviceSecret: string;
  readonly identity: StaffIdentity;
}

/** The answer does not say which of them was wrong. */
interface WrongCredentials {
  readonly kind: "wrong_credentials";
}

export type LoggedIn = OpenedSession | { readonly kind: "code_required" } | WrongCredentials | TooManyAttempts;

export async function logIn(ports: LogInPorts, request: LogIn): Promise<LoggedIn> {
  const { code, address } = request;
  const name = STAFF_NAME.test(request.name) ? request.name : "";
  const found = name === "" ? undefined : await findPerson(ports, name);
  const { source, isKnown, isDevice } = sourceOfPerson(request, found);
  const failed = (failure: FailedAttempt): FailedAttempt => {
    ports.logInFailed({ outcome: failure.kind, staff: found?.name, address });
    return failure;
  };
  const attempt = await beginAttempt(ports, { name, source, isKnown });
  if ("waitMs" in attempt) return failed({ kind: "too_many_attempts", ...attempt });
  const isRight = await attempt.check(request.password, found?.secrets.password);
  if (found === undefined || !isRight) return failed(WRONG_CREDENTIALS);
  await attempt.succeeded();
  const { secrets, ...member } = found;
  if (member.hasTotp) {
    if (code === undefined) return { kind: "code_required" };
    const failure = await checkCode(ports, found, isDevice ? source : CODES, code);
    if (failure !== undefined) return failed(failure);
  }
  return (await beginSession(ports, member, secrets.password, request, undefined)) ?? WRONG_CREDENTIALS;
}

type Person = NonNullable<Awaited<ReturnType<typeof findStaff>>>;

/** The person with a name, if it is one who logs in here. */
async function findPerson(ports: LogInPorts, name: string): Promise<Person | undefined> {
  const person = await findStaff(ports.store.engine.db, name);
  return person !== undefined && logsInAt(person, ports) ? person : undefined;
}

/** The source of a log-in: a device that the person has used before, or else the network. */
function sourceOfPerson({ address, secrets }: Device, person: Person | undefined) {
  const places = person?.secrets.places ?? [];
  const device = deviceOf(secrets.get(person?.id ?? 0));
  const isDevice = device !== undefined && places.includes(device);
  const source = isDevice ? device : networkOf(address);
  return { source, isKnown: places.includes(source), isDevice };
}

type FailedAttempt = WrongCredentials | TooManyAttempts;
const WRONG_CREDENTIALS: WrongCredentials = { kind: "wrong_credentials" };

/** Checks and uses a code. @returns undefined if it is right. */
async function checkCode(
  ports: LogInPorts,
  { id, name, secrets }: Person,
  source: string,
  code: string,
): Promise<FailedAttempt | undefined> {
  const attempt = await beginAttempt(ports, { name, source, isKnown: true });
  if ("waitMs" in attempt) return { kind: "too_many_attempts", ...attempt };
  if (!(await takeCode(ports, id, secrets, code))) return WRONG_CREDENTIALS;
  await attempt.succeeded();
  return undefined;
}

/** The source of all one-time codes, but those from a known device. */
const CODES = "code";

function deviceOf(secret: string | undefined): string | undefined {
  return secret === undefined ? undefined : `device ${hashSecret(secret).toString("hex")}`;
}

/** The source of a log-in whose person is not known yet: a device that somebody knows, or the network. */
export async function sourceOf(db: Db, { address, secrets }: Device): Promise<string> {
  const devices = new Map([...secrets].map(([id, secret]) => [id, deviceOf(secret) ?? ""]));
  return (await findKnownDevices(db, devices))[0] ?? networkOf(address);
}

/**
 * @param password the hash that was checked; undefined if the person has none.
 * @returns undefined if the account was removed or has another password by now.
 */
export async function beginSession(
  { store, clock, random, totpRoles }: SessionPorts,
  member: StaffMember,
  password: string | undefined,
  { address, userAgent, secrets }: Device,
  authenticatedAt: Instant | undefined,
): Promise<OpenedSession | undefined> {
  const secret = () => Buffer.from(random(STAFF_SECRET_RANDOM_BYTES)).toString("base64url");
  const [token, deviceSecret] = [secret(), secret()];
  const id = `ses_${Buffer.from(random(SESSION_ID_RANDOM_BYTES)).toString("hex")}`;
  const now = clock();
  await pruneSessions(store.engine, now - LONGEST_MS, now - IDLE_MS);
  const session = {
    id,
    createdAt: now,
    lastUsedAt: now,
    address,
    userAgent: userAgent?.slice(0, LONGEST_USER_AGENT),
    authenticatedAt,
  };
  const devices = [deviceSecret, secrets.get(member.id)].flatMap((each) => deviceOf(each) ?? []);
  if (!(await openSession(store.engine, hashSecret(token), member.id, password, session, devices))) return undefined;
  const identity = identityOf({ totpRoles }, member, session);
  return identity && { kind: "logged_in", token, deviceSecret, identity };
}

/**
 * Begins a log-in, which counts as failed until it succeeds: parallel log-ins cannot get around the lock.
 * @param of.source the caller's network or known device, a session, or {@link CODES}.
 */
export async function beginAttempt(
  { store, clock, random, accounts }: AccountPorts,
  { name, source, isKnown }: { readonly name: string; readonly source: string; readonly isKnown: boolean },
): Promise<Attempt | { readonly waitMs: number }> {
  const id = Buffer.from(random(ATTEMPT_ID_RANDOM_BYTES)).toString("hex");
  const at = clock();
  const waitMs = await beginLogIn(store.engine, { id, name, source, at }, at - FAILURE_COUNTS_MS, (failures) =>
    logInWaitMs(failures, name, isKnown, at),
  );
  if (waitMs > 0) return { waitMs };
  const forget = () => forgetLogIn(store.engine, id);
  return {
    check: (password, hashed) =>
      accounts.checkPassword(password, hashed, isKnown).catch(async (error: unknown) => {
        await forget();
        throw error;
      }),
    succeeded: forget,
  };
}

interface Attempt {
  /** @throws PasswordsBusy if the password was not checked: then the log-in does not count. */
  readonly check: (password: string, hashed: string | undefined) => Promise<boolean>;
  readonly succeeded: () => Promise<void>;
}

/** Uses a code, which is possible once. */
async function takeCode(
  { store, accounts }: AccountPorts,
  staffId: number,
  { totpSecret, totpStep: after, recoveryCodes }: StaffSecrets,
  code: string,
): Promise<boolean> {
  const recoveryCode = hashRecoveryCode(code);
  if (recoveryCodes.includes(recoveryCode)) return useCode(store.engine, staffId, { recoveryCode });
  const totpStep = totpSecret === undefined ? undefined : await accounts.checkTotp(totpSecret, code, after);
  return totpStep !== undefined && useCode(store.engine, staffId, { totpStep });
}

/** The person or key that sends a request. */
export interface StaffIdentity extends Actor {
  /** A key has the name `key NAME`. */
  readonly name: string;
  readonly role: Role;
  readonly authority: Authority;
  /** Undefined for a key. */
  readonly person: LoggedInPerson | undefined;
}

interface LoggedInPerson {
  readonly id: number;
  readonly sessionId: string;
  readonly hasTotp: boolean;
  /** Whether the role requires one-time codes. */
  readonly requiresTotp: boolean;
  /** Undefined if the account is set up. Otherwise the session gives no access but to the own account. */
  readonly mustSetUp: SetUp | undefined;
  readonly logsInWith: LogInWay;
  /** Time at which the person last proved to the issuer who they are. */
  readonly authenticatedAt: Instant | undefined;
  /** Hash of a seller's access token. */
  readonly tokenHash: Uint8Array | undefined;
}

/**
 * @param token of a session.
 * @param isUse whether the request keeps the session open.
 * @returns why the session has ended, in words for the person, if it has.
 */
export async function identifyPerson(
  { store, clock, totpRoles, logInWays, isCounter }: Omit<SessionPorts, "random">,
  token: string,
  isUse: boolean,
): Promise<StaffIdentity | string> {
  const hash = hashSecret(token);
  const found = await findSession(store.engine.db, hash);
  const now = clock();
  if (found === undefined) return SESSION_GONE;
  const { member, session } = found;
  const end = sessionEnd(session, now);
  if (end !== undefined) return end;
  if (!logInWays.has(member.logsInWith) || !logsInAt(member, { isCounter })) return SESSION_GONE;
  if (isUse && now - session.lastUsedAt >= NOTED_EVERY_MS) await touchSession(store.engine, hash, now);
  return identityOf({ totpRoles }, member, session) ?? SESSION_GONE;
}

function identityOf(
  { totpRoles }: Pick<LogInPorts, "totpRoles">,
  member: StaffMember,
  { id: sessionId, authenticatedAt }: StaffSession,
): StaffIdentity | undefined {
  const { id, name, role, hasTotp, logsInWith, tokenHash } = member;
  if (role === undefined) return undefined;
  const codes = { hasTotp, requiresTotp: totpRoles.has(role), mustSetUp: setUpOf(member, totpRoles) };
  const person = { id, sessionId, ...codes, logsInWith, authenticatedAt, tokenHash };
  return { name, role, authority: { staffId: id, role, sessionId }, person };
}

/** @returns undefined if there is no such key, or if the role of the person who made it allows nothing of it. */
export async function identifySystem(
  { store, clock }: Pick<Ports, "store" | "clock">,
  key: string,
): Promise<StaffIdentity | undefined> {
  if (!isStaffKey(key)) return undefined;
  const hash = hashSecret(key);
  const found = await findKey(store.engine.db, hash);
  if (found?.role === undefined) return undefined;
  const { name, role, lastUsedAt = 0 } = found;
  const now = clock();
  if (now - lastUsedAt >= NOTED_EVERY_MS) await touchKey(store.engine, hash, now);
  return { name: `key ${name}`, role, authority: { keyHash: hash, role }, person: undefined };
}
