import { Type } from "typebox";
import { isoTimeOrNull } from "../../../domain/wall-time.ts";
import { InstantSchema, oneOf, orNull } from "../../../office/common.ts";
import { lastBackupAt } from "../../../office/maintenance/backups.ts";
import { statusesOf, targetData } from "../../../office/targets/presenter.ts";
import { TargetSchema } from "../../../office/targets/schemas.ts";
import { StoreUnavailable } from "../../../store/errors.ts";
import { readHorizon } from "../../../store/settings.ts";
import { route } from "../route.ts";

export const HealthSchema = Type.Object(
  {
    version: Type.String(),
    store: oneOf(["sqlite", "postgres"]),
    database: oneOf(["ok", "away"]),
    recordingFailsSince: orNull(
      Type.String({ description: "Time since which no top-up can be recorded; null if top-ups are recorded." }),
    ),
    clockSetBackFrom: orNull(
      Type.String({
        description:
          "The latest time that the clock showed before it was set back; null once it shows that time again.",
      }),
    ),
    lastBackupAt: orNull(InstantSchema),
    prunedBefore: orNull(InstantSchema),
    migrations: Type.Array(
      Type.Object({
        name: Type.String(),
        state: Type.String({ description: "`applied`, `pending`, `altered` or `unknown`." }),
        appliedAt: orNull(InstantSchema),
      }),
    ),
    targets: Type.Array(TargetSchema),
  },
  { title: "Health" },
);

export const healthRoutes = [
  route({
    method: "GET",
    path: "/health",
    tag: "Health",
    permission: "read",
    summary: "Show the state of the service",
    answer: HealthSchema,
    async handle(ports) {
      const { store, version, storeKind, state } = ports;
      const known = {
        version,
        store: storeKind,
        recordingFailsSince: isoTimeOrNull(state.recordingFailsSince),
        clockSetBackFrom: isoTimeOrNull(state.clockSetBackFrom),
      };
      try {
        await store.ping();
        const migrations = await ports.readMigrations();
        return {
          ...known,
          database: "ok" as const,
          lastBackupAt: isoTimeOrNull(await lastBackupAt(store.engine.db)),
          prunedBefore: isoTimeOrNull(await readHorizon(store.engine.db)),
          migrations: migrations.map(({ name, state, appliedAt }) => ({
            name,
            state,
            appliedAt: isoTimeOrNull(appliedAt),
          })),
          targets: (await statusesOf(store.engine.db)).map(targetData),
        };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return {
          ...known,
          database: "away" as const,
          lastBackupAt: null,
          prunedBefore: null,
          migrations: [],
          targets: [],
        };
      }
    },
  }),
];
