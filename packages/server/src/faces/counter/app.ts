import type { FastifyInstance } from "fastify";
import type { Operation } from "../../office/operation.ts";
import { type AdminAppOptions, buildAdminApp } from "../staff-api/app.ts";
import { counterRoutes } from "./routes.ts";
import type { PartnerParts } from "./selling.ts";

/** The operations of the office that sellers run. */
export const COUNTER_OPERATIONS: readonly Operation[] = [];

/** Builds the server of the counter: the machinery of the staff API with other routes, people and cookies. */
export function buildCounterApp(
  options: Omit<AdminAppOptions, "routes">,
  parts: PartnerParts,
): Promise<FastifyInstance> {
  const world = { ...options.world, isCounter: true, issuer: undefined, passwordLogIn: true };
  return buildAdminApp({ ...options, world, routes: counterRoutes(parts, COUNTER_OPERATIONS) });
}
