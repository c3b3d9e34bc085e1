import type { Static, TObject, TSchema } from "typebox";
import type { Permission } from "../../domain/staff.ts";
import { withOwnPassword } from "./own-password.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import type { ProblemCode } from "./problems.ts";

/** A file that was sent, and is kept until its request is answered, or for as long as an upload is. */
export interface UploadedFile {
  /** As it was named in the query; a name by its kind where it was not. */
  readonly name: string;
  readonly isCsv: boolean;
  /** SHA-256. */
  readonly digest: Uint8Array;
  /** Its bytes, from the beginning whenever it is opened. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Keeps it beyond the answer. Whoever does lets go of it by what this returns. */
  readonly keep: () => () => Promise<void>;
}

/** Where a request comes from. */
export interface Visitor {
  /** Undefined where a proxy did not know. */
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Has the browser keep the token of a session, or forget it where there is none. */
  readonly keepToken: (token: string | undefined) => void;
}

/** A request that was let in and whose parts are as their schemas say. */
export interface RouteRequest<Params, Query, Body> {
  /** Of a route that is open to anybody, of nobody. */
  readonly identity: Identity;
  readonly visitor: Visitor;
  readonly params: Params;
  readonly query: Query;
  /** Of a route whose body is a file: {@link UploadedFile}. */
  readonly body: Body;
}

/** Text that goes out piece by piece. */
export interface StreamedText {
  /** The file's name for whoever downloads it. */
  readonly fileName: string;
  readonly pieces: AsyncIterable<string>;
}

type BodyOf<Body> = Body extends "file" ? UploadedFile : Body extends TSchema ? Static<Body> : undefined;
type PartOf<Part> = Part extends TSchema ? Static<Part> : Record<never, never>;
type AnswerOf<Answer> = Answer extends "csv" ? StreamedText : Answer extends TSchema ? Told<Static<Answer>> : unknown;
/** What is answered is written out, and nobody changes it. */
type Told<Value> = Value extends object ? { readonly [Key in keyof Value]: Told<Value[Key]> } : Value;

/** One operation of the staff API: what checks it, documents it and does it, in one place. */
export interface RouteDefinition<
  Params extends TObject | undefined,
  Query extends TObject | undefined,
  Body extends TSchema | "file" | undefined,
  Answer extends TSchema | "csv" | undefined,
> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/api/v1`, such as `/customers/:cuid`. */
  readonly path: string;
  /** Its section of the document. */
  readonly tag: string;
  readonly summary: string;
  /** Who may: whoever has the permission; `person`: whoever logged in, whatever their role; `anybody`: strangers too. */
  readonly permission: Permission | "person" | "anybody";
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Whether people are asked for their own password again, in the body's `ownPassword`. Keys are refused. */
  readonly asksPassword?: boolean;
  /** Of a body that is no file: 64 KiB unless this says otherwise. */
  readonly mostBytes?: number;
  /** Undefined where there is nothing to say: 204. */
  readonly answer?: Answer;
  /** Of a success: 200 unless this says otherwise. */
  readonly status?: 200 | 201 | 202;
  /** What it may be refused for beside what any request may. */
  readonly problems?: readonly ProblemCode[];
  /** Whether it changes nothing, though its method is not GET: an Idempotency-Key is ignored. */
  readonly changesNothing?: boolean;
  /** Whether its answer holds what is shown once: it is not kept for an Idempotency-Key. */
  readonly isSecret?: boolean;
  /** @throws Problem */
  readonly handle: (
    ports: AdminPorts,
    request: RouteRequest<PartOf<Params>, PartOf<Query>, BodyOf<Body>>,
  ) => Promise<AnswerOf<Answer>>;
}

/** Whether an Idempotency-Key has its answer given again. */
export function takesIdempotencyKey({ method, permission, changesNothing }: Route): boolean {
  return method !== "GET" && permission !== "anybody" && changesNothing !== true;
}

/** A route of whatever parts, as it is served and documented. */
export type Route = Omit<
  RouteDefinition<TObject | undefined, TObject | undefined, TSchema | "file" | undefined, TSchema | "csv" | undefined>,
  "handle"
> & {
  readonly handle: (ports: AdminPorts, request: RouteRequest<unknown, unknown, unknown>) => Promise<unknown>;
};

/** Checks a route's parts against each other. */
export function route<
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | "file" | undefined = undefined,
  Answer extends TSchema | "csv" | undefined = undefined,
>(definition: RouteDefinition<Params, Query, Body, Answer>): Route {
  const plain = definition as unknown as Route;
  return plain.asksPassword === true ? withOwnPassword(plain) : plain;
}
