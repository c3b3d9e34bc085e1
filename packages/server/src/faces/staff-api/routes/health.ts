import { Type } from "typebox";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { InstantSchema, oneOf, orNull } from "../../../office/common.ts";
import { listRuns } from "../../../office/imports/runs.ts";
import { ImportRunSchema } from "../../../office/imports/schemas.ts";
import { lastBackupAt, lastCheckAt } from "../../../office/maintenance/backups.ts";
import { statusesOfSystems, targetData } from "../../../office/targets/presenter.ts";
import { TargetSchema } from "../../../office/targets/schemas.ts";
import { StoreUnavailable } from "../../../store/errors.ts";
import { readHorizon } from "../../../store/settings.ts";
import { route } from "../route.ts";

const FiguresSchema = Type.Object(
  {
    minutes: Type.Integer({ description: "Length of the measured time, at least 1 and at most about 5." }),
    topUpsAMinute: Type.Number(),
    callsAMinute: Type.Number({ description: "Answers to accepted calls." }),
    refused: Type.Integer({ description: "Refused calls in the measured time." }),
    answers: Type.Array(
      Type.Object({
        operation: Type.String(),
        count: Type.Integer(),
        p50: Type.Number({ description: "Seconds within which half of the answers were written." }),
        p99: Type.Number(),
      }),
    ),
    refusals: Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() })),
    processes: Type.Array(
      Type.Object({
        role: Type.String({ description: "`worker`, `settler` or `console`." }),
        count: Type.Integer(),
        unavailable: Type.Integer({ description: "How many of them do not answer." }),
        restarts: Type.Integer({ description: "Since the start of the service." }),
      }),
    ),
    restarts: Type.Integer({ description: "In the measured time." }),
    allRestarts: Type.Integer({ description: "Since the start of the service." }),
  },
  {
    title: "ServiceFigures",
    description: "What all processes did in the last five minutes; null until the first figures, after some seconds.",
  },
);

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
    now: InstantSchema,
    timeZone: Type.String(),
    figures: orNull(FiguresSchema),
    space: orNull(
      Type.Object(
        { database: Type.Integer(), log: orNull(Type.Integer()), free: orNull(Type.Integer()) },
        {
          description:
            "Sizes of the database, its write-ahead log and the free part of its disk, in bytes; null if unknown.",
        },
      ),
    ),
    reportsBehindMs: orNull(
      Type.Integer({
        description: "Age of what lists and reports read, in ms; null without a standby, or if unknown.",
      }),
    ),
    lastBackupAt: orNull(InstantSchema),
    lastCheckAt: orNull(InstantSchema),
    lastImport: orNull(ImportRunSchema),
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

function wholeOrNull(ms: number | undefined): number | null {
  return Number.isFinite(ms) ? Math.round(ms as number) : null;
}

export const healthRoutes = [
  route({
    method: "GET",
    path: "/health",
    tag: "Health",
    permission: "read",
    summary: "Show the state of the service",
    answer: HealthSchema,
    async handle(ports) {
      const { store, version, storeKind, state, clock } = ports;
      const known = {
        version,
        store: storeKind,
        recordingFailsSince: isoTimeOrNull(state.recordingFailsSince),
        clockSetBackFrom: isoTimeOrNull(state.clockSetBackFrom),
        now: isoTime(clock()),
        timeZone: store.provider.zone.name,
        figures: state.figures ?? null,
      };
      try {
        await store.ping();
        const migrations = await ports.readMigrations();
        const { db } = store.engine;
        const { database, log = null, free = null } = await store.space();
        const [lastImport = null] = await listRuns(db);
        return {
          ...known,
          database: "ok" as const,
          space: { database, log, free },
          reportsBehindMs: await store.reportsBehindMs().then(wholeOrNull, () => null),
          lastBackupAt: isoTimeOrNull(await lastBackupAt(db)),
          lastCheckAt: isoTimeOrNull(await lastCheckAt(db)),
          lastImport,
          prunedBefore: isoTimeOrNull(await readHorizon(db)),
          migrations: migrations.map(({ name, state, appliedAt }) => ({
            name,
            state,
            appliedAt: isoTimeOrNull(appliedAt),
          })),
          targets: (await statusesOfSystems(db)).map((each) => targetData(each, clock())),
        };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return {
          ...known,
          database: "away" as const,
          space: null,
          reportsBehindMs: null,
          lastBackupAt: null,
          lastCheckAt: null,
          lastImport: null,
          prunedBefore: null,
          migrations: [],
          targets: [],
        };
      }
    },
  }),
];
