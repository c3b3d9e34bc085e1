import { type Static, Type } from "typebox";
import { connectionState, type Environment, isBlocked, wireStatus } from "../../domain/customer.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import { chainText, isOff, lastChange, STEP_STATES, stepView } from "../../domain/service-step.ts";
import { serviceFrom } from "../../domain/subscription.ts";
import { type Instant, isoTimeOrNull } from "../../domain/wall-time.ts";
import { findConnectionsWithHeads, ledgersOfConnection, readLedgers } from "../../store/customers.ts";
import { momentOf, type Ports } from "../../store/ports.ts";
import { EnvironmentSchema, InstantSchema, oneOf, orNull, ServiceSchema } from "../common.ts";
import { readFacts, suspects } from "./sql.ts";

export const ChainSchema = Type.Object(
  {
    text: Type.String({ description: "The chain in one line." }),
    isOff: Type.Boolean({ description: "Whether a step failed or is late, unless the service begins later." }),
    steps: Type.Array(
      Type.Object({
        target: Type.String(),
        state: oneOf(
          STEP_STATES,
          "`waits`: for a promised confirmation. `next_log_in`: RADIUS had no open session of the user.",
        ),
        isLate: Type.Boolean({ description: "Whether it came no further for five minutes." }),
        sentAt: orNull(InstantSchema),
        acceptedAt: orNull(InstantSchema),
        endedAt: orNull(InstantSchema),
        detail: orNull(Type.String({ description: "Detail of the confirmation, or why the last attempt failed." })),
      }),
    ),
  },
  { title: "ServiceChain", description: "The way of the connection's last change to each target." },
);
export type Chain = Static<typeof ChainSchema>;

interface Changed {
  readonly service: Static<typeof ServiceSchema>;
  readonly reqId: string;
  readonly ledgers: readonly Ledger[];
  /** Time at which staff blocked the connection; undefined if they have not. */
  readonly blockedAt: Instant | undefined;
}

/** The chains of some connections, in their order; null if no target has or awaits a change. */
export async function chainsOf(
  { store, clock }: Pick<Ports, "store" | "clock">,
  environment: Environment,
  connections: readonly Changed[],
): Promise<(Chain | null)[]> {
  const factsOf = await readFacts(store.engine.db, environment, connections);
  const { zone } = store.provider;
  const now = clock();
  return connections.map(({ ledgers, blockedAt, ...name }) => {
    const facts = factsOf(name);
    const changed = lastChange(
      ledgers,
      blockedAt,
      facts.flatMap(({ step }) => step ?? []),
      zone,
      now,
    );
    if (changed === undefined) return null;
    const views = facts.flatMap((each) => stepView({ environment, ...name }, { ...each, changed }, now) ?? []);
    if (views.length === 0) return null;
    const steps = views.map(({ target, state, isLate, detail = null, ...times }) => {
      const [sentAt, acceptedAt] = [isoTimeOrNull(times.sentAt), isoTimeOrNull(times.acceptedAt)];
      return { target, state, isLate, sentAt, acceptedAt, endedAt: isoTimeOrNull(times.endedAt), detail };
    });
    const subscriptions = ledgers.flatMap((ledger) => headOf(ledger).subscription ?? []);
    const from = blockedAt === undefined ? serviceFrom(subscriptions, zone.wallTime(now)) : undefined;
    return { text: chainText(changed, views, zone, from), isOff: from === undefined && views.some(isOff), steps };
  });
}

export const LateServiceSchema = Type.Object(
  {
    environment: EnvironmentSchema,
    cuid: Type.String(),
    service: ServiceSchema,
    reqId: Type.String(),
    text: Type.String({ description: "The way of its last change, in one line." }),
  },
  { title: "LateService" },
);

interface LateServices {
  readonly services: Static<typeof LateServiceSchema>[];
  /** Whether there may be more: so many connections have a late step that not all were looked at. */
  readonly isCut: boolean;
}

/** Paid connections with a step that failed or is late at a target that is not paused. */
export async function lateServices(
  ports: Pick<Ports, "store" | "clock">,
  environment: Environment,
): Promise<LateServices> {
  const { engine } = ports.store;
  const { keys: found, isCut } = await suspects(engine.db, environment, ports.clock());
  if (found.length === 0) return { services: [], isCut };
  const cuids = [...new Set(found.map(({ cuid }) => cuid))];
  const ledgers = await readLedgers(engine, engine.db, environment, cuids);
  const connections = await findConnectionsWithHeads(engine.db, environment, cuids);
  const { wall } = momentOf(ports);
  const paid = found.filter((key) => {
    const connection = connections.find(
      ({ cuid, service, reqId }) => cuid === key.cuid && service === key.service && reqId === key.reqId,
    );
    const isPaid = connection !== undefined && wireStatus(connectionState(connection), wall) === "active";
    return isPaid && !isBlocked(connection);
  });
  const changed = paid.map(({ cuid, ...name }) => {
    const its = ledgers.filter((ledger) => ledger.cuid === cuid);
    return { ...name, ledgers: ledgersOfConnection(its, { cuid, ...name }), blockedAt: undefined };
  });
  const chains = await chainsOf(ports, environment, changed);
  const services = paid.flatMap((key, index) => {
    const chain = chains[index];
    return chain?.isOff === true ? [{ ...key, text: chain.text }] : [];
  });
  return { services, isCut };
}
