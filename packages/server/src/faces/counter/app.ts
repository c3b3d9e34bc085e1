import type { FastifyInstance } from "fastify";
import { sellerOperations } from "../../office/shifts/seller.ts";
import { type AdminAppOptions, buildAdminApp } from "../staff-api/app.ts";
import { counterRoutes } from "./routes.ts";
import type { PartnerParts } from "./selling.ts";

/** All routes of the counter. */
export function counterRoutesWith(parts: PartnerParts) {
  return counterRoutes(parts, sellerOperations);
}

/** Builds the server of the counter: the machinery of the staff API with other routes, people and cookies. */
export function buildCounterApp(
  options: Omit<AdminAppOptions, "routes">,
  parts: PartnerParts,
): Promise<FastifyInstance> {
  const world = { ...options.world, isCounter: true, issuer: undefined, passwordLogIn: true };
  return buildAdminApp({ ...options, world, routes: counterRoutesWith(parts) });
}
