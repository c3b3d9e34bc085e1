import { type Static, type TObject, type TSchema, Type } from "typebox";
import { Refused } from "../../domain/refused.ts";
import type { Permission } from "../../domain/staff.ts";
import type { Target } from "../../domain/target.ts";
import type { Device, OpenedSession, TooManyAttempts } from "../../office/session/log-in.ts";
import { confirmPassword, type Person } from "../../office/session/own-account.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import { Problem, type ProblemCode } from "./problems.ts";

/** A file that was sent. It exists until its request is answered, or as long as it is kept. */
export interface UploadedFile {
  /** The name in the query, otherwise one by the kind of the file. */
  readonly name: string;
  readonly isCsv: boolean;
  /** SHA-256. */
  readonly digest: Uint8Array;
  /** Reads the bytes from the beginning. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Keeps the file beyond the answer. Call the returned function to delete it. */
  readonly keep: () => () => Promise<void>;
}

/** Origin of a request. */
export interface Visitor extends Device {
  /** Scheme, host and port of the console, as the browser uses them. */
  readonly origin: string;
  /** Leaves the secrets of a log-in in the browser. */
  readonly keepLogIn: (opened: OpenedSession) => void;
  /** Deletes the session's secret. */
  readonly forgetSession: () => void;
}

/** An admitted request whose parts match their schemas. */
export interface RouteRequest<Params, Query, Body> {
  /** The caller. Routes with the permission `public` or `target` have none. */
  readonly identity: Identity;
  /** The target whose key was sent, with the permission `target`. */
  readonly receiver: Target;
  readonly visitor: Visitor;
  readonly params: Params;
  readonly query: Query;
  /** {@link UploadedFile} if the body is a file. */
  readonly body: Body;
}

/** Text that is sent in pieces. */
export interface StreamedText {
  /** Name of the downloaded file. */
  readonly fileName: string;
  readonly pieces: AsyncIterable<string>;
}

type BodyOf<Body> = Body extends "file" ? UploadedFile : Body extends TSchema ? Static<Body> : undefined;
type PartOf<Part> = Part extends TSchema ? Static<Part> : Record<never, never>;
type AnswerOf<Answer> = Answer extends "csv"
  ? StreamedText
  : Answer extends TSchema
    ? ReadonlyDeep<Static<Answer>>
    : unknown;
type ReadonlyDeep<Value> = Value extends object ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> } : Value;

/** One operation of the staff API: its checks, its documentation and its work. */
export interface RouteDefinition<
  Params extends TObject | undefined,
  Query extends TObject | undefined,
  Body extends TSchema | "file" | undefined,
  Answer extends TSchema | "csv" | undefined,
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`, such as `/customers/:cuid`. */
  readonly path: string;
  /** Section of the document. */
  readonly tag: string;
  readonly summary: string;
  /**
   * The permission needed; `person`: any person who is logged in; `caller`: any person or key; `public`: no log-in;
   * `target`: only a target's key.
   */
  readonly permission: Permission | "person" | "caller" | "public" | "target";
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Whether the body must have the person's own password (`ownPassword`). Keys are refused. */
  readonly asksPassword?: boolean;
  /** Maximum size of a JSON body (default 64 KiB). */
  readonly mostBytes?: number;
  /** Schema of the answer; undefined means 204 without a body. */
  readonly answer?: Answer;
  /** HTTP status of a success (default 200). */
  readonly status?: 200 | 201 | 202;
  /** Other statuses of some answers: 200 if nothing was made, 202 if the work is still to be done. */
  readonly otherStatuses?: readonly { readonly code: 200 | 202; isOf(this: void, answer: AnswerOf<Answer>): boolean }[];
  /** Problems beside those that any request can have. */
  readonly problems?: readonly ProblemCode[];
  /** Whether a method other than GET changes nothing. An Idempotency-Key is then ignored. */
  readonly changesNothing?: boolean;
  /** Whether the answer contains a secret. It is then not kept for an Idempotency-Key. */
  readonly isSecret?: boolean;
  /** @throws Problem */
  readonly handle: (
    ports: AdminPorts,
    request: RouteRequest<PartOf<Params>, PartOf<Query>, BodyOf<Body>>,
  ) => Promise<AnswerOf<Answer>>;
}

/** Whether the answer is kept and replayed for an Idempotency-Key. */
export function takesIdempotencyKey({ method, permission, changesNothing }: Route): boolean {
  const isByStaff = permission !== "public" && permission !== "target";
  return method !== "GET" && isByStaff && changesNothing !== true;
}

/** A route with any parts, as it is served and documented. */
export type Route = Omit<
  RouteDefinition<TObject | undefined, TObject | undefined, TSchema | "file" | undefined, TSchema | "csv" | undefined>,
  "handle"
> & {
  readonly handle: (ports: AdminPorts, request: RouteRequest<unknown, unknown, unknown>) => Promise<unknown>;
};

/** Makes a route, and checks the types of its parts against each other. */
export function route<
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | "file" | undefined = undefined,
  Answer extends TSchema | "csv" | undefined = undefined,
>(definition: RouteDefinition<Params, Query, Body, Answer>): Route {
  const plain = definition as unknown as Route;
  return plain.asksPassword === true ? withOwnPassword(plain) : plain;
}

const OwnPasswordSchema = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    "Password of the person who is logged in: a stolen session is not enough. Without it if they use OpenID Connect.",
});

/** Adds a check of the person's own password to a route, or of a recent log-in with OpenID Connect. */
function withOwnPassword(route: Route): Route {
  const { properties = {} } = (route.body ?? {}) as Partial<TObject>;
  return {
    ...route,
    body: Type.Object({ ...properties, ownPassword: Type.Optional(OwnPasswordSchema) }),
    problems: [...(route.problems ?? []), "sessions_only", "wrong_password", "too_many_attempts", "log_in_again"],
    async handle(ports, request) {
      const { ownPassword, ...body } = request.body as { readonly ownPassword?: string };
      await requirePassword(ports, request, ownPassword);
      return route.handle(ports, { ...request, body });
    },
  };
}

async function requirePassword(
  ports: AdminPorts,
  { identity }: Pick<RouteRequest<unknown, unknown, unknown>, "identity">,
  password: string | undefined,
): Promise<void> {
  const person = personOf(identity);
  if (password === undefined && person.person.logsInWith === "password")
    throw Refused.field("ownPassword", "is required");
  const done = await confirmPassword(ports, person, { password: password ?? "" });
  if (done.kind === "log_in_again") throw new Problem("log_in_again");
  if (done.kind === "too_many_attempts") throw tooManyAttempts(done);
  if (done.kind === "wrong_password")
    throw new Problem("wrong_password", undefined, [{ field: "ownPassword", problem: "is not your password" }]);
}

/** @throws Problem if the caller is a key. */
export function personOf(identity: Identity): Person {
  if (identity.person === undefined) throw new Problem("sessions_only");
  return { ...identity, person: identity.person };
}

export function tooManyAttempts({ waitMs }: TooManyAttempts): Problem {
  const minutes = Math.ceil(waitMs / 60_000);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  const detail = `Too many log-ins have failed. Try again in ${wait}.`;
  return new Problem("too_many_attempts", detail, undefined, Math.ceil(waitMs / 1000));
}
