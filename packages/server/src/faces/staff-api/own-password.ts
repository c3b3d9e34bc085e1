import { type TObject, Type } from "typebox";
import type { TooManyAttempts } from "../../office/session/log-in.ts";
import { confirmPassword, type Person } from "../../office/session/own-account.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import { Problem } from "./problems.ts";
import type { Route, RouteRequest } from "./route.ts";

const OwnPasswordSchema = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Of the person who is logged in: a stolen session is not enough.",
});

/** A route that asks people for their own password again, before it does anything. */
export function withOwnPassword(route: Route): Route {
  const { properties = {} } = (route.body ?? {}) as Partial<TObject>;
  return {
    ...route,
    body: Type.Object({ ...properties, ownPassword: OwnPasswordSchema }),
    problems: [...(route.problems ?? []), "sessions_only", "wrong_password", "too_many_attempts"],
    async handle(ports, request) {
      const { ownPassword, ...body } = request.body as { readonly ownPassword: string };
      await requirePassword(ports, request, ownPassword);
      return route.handle(ports, { ...request, body });
    },
  };
}

async function requirePassword(
  ports: AdminPorts,
  { identity }: Pick<RouteRequest<unknown, unknown, unknown>, "identity">,
  password: string,
): Promise<void> {
  const done = await confirmPassword(ports, personOf(identity), { password });
  if (done.kind === "too_many_attempts") throw tooManyAttempts(done);
  if (done.kind === "wrong_password")
    throw new Problem("wrong_password", undefined, [{ field: "ownPassword", problem: "is not your password" }]);
}

/** @throws Problem if a key asks. */
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
