import { type Static, Type } from "typebox";
import { SERVICES } from "../../../domain/bouquet.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { DEFAULT_RADIUS_SERVICE, readRadiusConfig } from "../../../domain/radius-config.ts";
import { TARGET_KINDS, type TargetConfig } from "../../../domain/target.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import {
  EnvironmentSchema,
  InstantSchema,
  oneOf,
  onePage,
  orNull,
  pageOf,
  ServiceSchema,
} from "../../../office/common.ts";
import { Refused } from "../../../office/refused.ts";
import { failedData, targetData } from "../../../services/staff/data.ts";
import {
  addTarget,
  listFailed,
  listTargets,
  removeTarget,
  resendToTarget,
  rotateTargetSecret,
  setTargetPaused,
  showTarget,
} from "../../../services/staff/targets.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* The provider's systems that are told of what happens. */

const TAG = "Targets and events";

export const TargetSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    kind: oneOf(TARGET_KINDS),
    service: orNull(oneOf(SERVICES, "The only service that a RADIUS target serves; null of other kinds.")),
    address: orNull(Type.String({ description: "Without its password and its query; null of a feed." })),
    books: Type.Boolean({ description: "Whether it is the provider's billing." }),
    paused: Type.Boolean(),
    createdAt: InstantSchema,
    behind: Type.Integer({ description: "How many events it has not come to." }),
    failing: Type.Integer(),
    setAside: Type.Integer(),
    oldestAt: orNull(InstantSchema),
  },
  { title: "Target" },
);

export const AddTargetRequestSchema = Type.Object(
  {
    name: Type.String({ description: "Up to 64 letters, digits, dots, dashes and underscores." }),
    books: Type.Optional(Type.Boolean({ description: "Of a webhook or feed: it is the provider's billing." })),
    webhook: Type.Optional(
      Type.Object({ url: Type.String(), allowPrivate: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    ),
    radius: Type.Optional(
      Type.Object({
        database: Type.String({
          description:
            "postgres:// or mysql://, then USER:PASSWORD@HOST:PORT/DATABASE; for TLS, then ?sslmode=verify-full or no-verify.",
        }),
        service: Type.Optional(oneOf(SERVICES, "The only service that it serves; internet unless given.")),
        timeZone: Type.Optional(Type.String({ description: "Of its clock; the provider's unless given." })),
        groups: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "By plan." })),
        defaultGroup: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: "AddTargetRequest" },
);

export const AddedTargetSchema = Type.Object(
  { target: TargetSchema, secret: orNull(Type.String({ description: "Of a webhook; shown this once." })) },
  { title: "AddedTarget" },
);

export const RotatedSecretSchema = Type.Object(
  {
    secret: Type.String({ description: "Shown this once." }),
    formerUntil: Type.String({ description: "Until then, the previous one signs beside it." }),
  },
  { title: "RotatedSecret" },
);

export const FailedDeliverySchema = Type.Object(
  {
    id: Type.String({ description: "Of the event." }),
    kind: Type.String({ description: "Of the event." }),
    environment: EnvironmentSchema,
    ...{ cuid: Type.String(), service: ServiceSchema, reqId: Type.String() },
    attempts: Type.Integer(),
    failedAt: orNull(InstantSchema),
    nextAt: InstantSchema,
    setAside: Type.Boolean({ description: "Whether it is tried no more until it is asked for." }),
    problem: orNull(Type.String()),
  },
  { title: "FailedDelivery" },
);

const NAMED = Type.Object({ name: Type.String() });

export const targetRoutes = [
  route({
    ...{ method: "GET", path: "/targets", tag: TAG, permission: "read" },
    summary: "List targets, and how far each is",
    answer: pageOf(TargetSchema),
    handle: async (ports) => onePage((await listTargets(ports)).map(targetData)),
  }),
  route({
    ...{ method: "POST", path: "/targets", tag: TAG, permission: "administer", status: 201, isSecret: true },
    summary: "Add a target, which is told of what happens from now on; a feed where nothing else is said",
    body: AddTargetRequestSchema,
    answer: AddedTargetSchema,
    problems: ["conflict"],
    async handle(ports, { identity, body }) {
      const { name, books = false } = body;
      if (books && body.radius !== undefined) throw Refused.field("books", "is not for RADIUS");
      const added = await addTarget(ports, identity, { name, books, config: configOf(ports, body) });
      if (added.kind === "bad_name")
        throw Refused.field(
          "name",
          "must have 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first",
        );
      if (added.kind === "bad_url") throw Refused.field("webhook.url", added.problem);
      if (added.kind === "database_taken")
        throw Refused.field(
          "radius.database",
          `is that of the target ${added.by}: give each target a database of its own`,
        );
      if (added.kind === "name_taken") throw new Problem("conflict", "There is a target of this name already.");
      return { target: await shown(ports, name), secret: added.secret ?? null };
    },
  }),
  route({
    ...{ method: "PATCH", path: "/targets/:name", tag: TAG, permission: "administer" },
    summary: "Send a target nothing for a while, or let it go on from where it is",
    params: NAMED,
    body: Type.Object({ paused: Type.Boolean() }),
    answer: TargetSchema,
    async handle(ports, { identity, params: { name }, body: { paused } }) {
      if ((await setTargetPaused(ports, identity, { name, paused })) === undefined) throw new Problem("not_found");
      return shown(ports, name);
    },
  }),
  route({
    ...{ method: "DELETE", path: "/targets/:name", tag: TAG, permission: "administer" },
    summary: "Remove a target, with all that it has not taken",
    params: NAMED,
    async handle(ports, { identity, params }) {
      if ((await removeTarget(ports, identity, params)) === undefined) throw new Problem("not_found");
    },
  }),
  route({
    ...{ method: "POST", path: "/targets/:name/rotation", tag: TAG, permission: "administer", isSecret: true },
    summary: "Give a webhook a new secret; the previous one signs beside it for 24 hours",
    params: NAMED,
    answer: RotatedSecretSchema,
    problems: ["conflict"],
    async handle(ports, { identity, params }) {
      const rotated = await rotateTargetSecret(ports, identity, params);
      if (rotated.kind === "no_target") throw new Problem("not_found");
      if (rotated.kind === "no_webhook") throw new Problem("conflict", "It is no webhook, and has no secret.");
      return { secret: rotated.secret, formerUntil: isoTime(rotated.formerUntil) };
    },
  }),
  route({
    ...{ method: "POST", path: "/targets/:name/resend", tag: TAG, permission: "administer" },
    summary: "Try again now all that a target did not take",
    params: NAMED,
    answer: Type.Object({ resent: Type.Integer({ description: "How many events." }) }),
    async handle(ports, { identity, params }) {
      const resent = await resendToTarget(ports, identity, params);
      if (resent === undefined) throw new Problem("not_found");
      return { resent };
    },
  }),
  route({
    ...{ method: "GET", path: "/targets/:name/failed", tag: TAG, permission: "read" },
    summary: "List what a target did not take, or waits behind that: the oldest thousand",
    params: NAMED,
    answer: pageOf(FailedDeliverySchema),
    async handle(ports, { params }) {
      const failed = await listFailed(ports, params);
      if (failed === undefined) throw new Problem("not_found");
      return onePage(failed.map(failedData));
    },
  }),
];

async function shown(ports: AdminPorts, name: string) {
  const status = await showTarget(ports, { name });
  if (status === undefined) throw new Problem("not_found");
  return targetData(status);
}

function configOf(ports: AdminPorts, { webhook, radius }: Static<typeof AddTargetRequestSchema>): TargetConfig {
  if (webhook !== undefined && radius !== undefined) throw Refused.field("radius", "cannot be said beside webhook");
  if (webhook !== undefined) return { kind: "webhook", url: webhook.url, allowPrivate: webhook.allowPrivate === true };
  if (radius === undefined) return { kind: "feed" };
  const { name: timeZone } = ports.store.provider.zone;
  const { service = DEFAULT_RADIUS_SERVICE, ...file } = radius;
  const read = readRadiusConfig({ timeZone, groups: {}, ...file } as unknown as JsonObject, service);
  if (read.ok) return read.value;
  throw new Problem(
    "invalid",
    undefined,
    read.problems.map(({ field, problem }) => ({ field: `radius.${field}`, problem })),
  );
}
