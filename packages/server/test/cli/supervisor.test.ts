import { expect, test } from "vitest";
import { type Config, readConfig } from "../../src/config.ts";
import type { LookUpCount } from "../../src/domain/partner-limits.ts";
import { answerSupervisor } from "../../src/faces/cli/child.ts";
import { askSupervisor } from "../../src/faces/cli/look-ups.ts";
import type { ChildProcess, FromChild, Role, ToChild } from "../../src/faces/cli/processes.ts";
import type { Runtime, StoreOptions } from "../../src/faces/cli/runtime.ts";
import { superviseService } from "../../src/faces/cli/supervisor.ts";
import { single } from "../../src/metrics/exposition.ts";
import type { Store } from "../../src/store/store.ts";
import { createLogger } from "../../src/system/logger.ts";
import { type ServiceState, wellState } from "../../src/system/service-state.ts";
import { VirtualTime } from "../support/virtual-time.ts";

/* A supervisor by virtual time, whose children are objects of the test's. */

const START = Date.UTC(2026, 10, 20, 9);
const WELL = wellState();

/** A message as it comes out of the channel between the processes. */
const sent = <Message>(message: Message): Message => JSON.parse(JSON.stringify(message));

const problemsOf = ({ state }: FakeChild) => ({ ...state, figures: undefined });

/** A child that answers pings until it hangs. */
class FakeChild {
  isHung = false;
  readonly state: ServiceState = wellState();
  wasKilled = false;
  #hear: (message: FromChild) => void = () => {};
  #receive: (message: ToChild) => void = () => {};
  #end: (how: string) => void = () => {};
  readonly role: Role;
  readonly flags: readonly string[];
  readonly process: ChildProcess;
  readonly countLookUp: ReturnType<typeof askSupervisor>;

  constructor(role: Role, flags: readonly string[] = []) {
    this.role = role;
    this.flags = flags;
    this.process = {
      send: (message) => this.#receive(sent(message)),
      onMessage: (hear) => {
        this.#hear = hear;
        setImmediate(() => this.say({ kind: "ready", url: "http://127.0.0.1:1" }));
      },
      ended: new Promise((resolve) => {
        this.#end = resolve;
      }),
      kill: () => {
        this.wasKilled = true;
        this.#end("SIGKILL");
      },
    };
    const supervisor = {
      send: (message: FromChild) => this.say(message),
      onMessage: (hear: (message: ToChild) => void) => {
        const others = this.#receive;
        this.#receive = (message) => {
          others(message);
          hear(message);
        };
      },
    };
    this.countLookUp = askSupervisor(supervisor);
    const topUps = single("counter", "topupd_top_ups_total", "", 3);
    void answerSupervisor(supervisor, this.state, async () => [topUps]).then(() => this.#end("exit code 0"));
  }

  say(message: FromChild): void {
    if (!this.isHung) this.#hear(sent(message));
  }
}

/** @param counts the counts of look-ups that the store has. */
async function superviseFakes({
  workers = 2,
  counts = [] as LookUpCount[],
  copy = undefined as string | undefined,
} = {}) {
  const time = new VirtualTime(START);
  const children: FakeChild[] = [];
  const set = { back: 0, longer: 0 };
  const start = (role: Role) => (flags?: readonly string[]) => {
    const child = new FakeChild(role, flags);
    children.push(child);
    return child.process;
  };
  const shareLookUps: Store["shareLookUps"] = async (some) => {
    counts.push(...some);
    return counts;
  };
  const checkoutSecrets = async () => [{ id: 0, key: Buffer.alloc(32), createdAt: START }];
  const store = { provider: {}, engine: {}, checkoutSecrets, shareLookUps, close() {} };
  const logs: string[] = [];
  const runtime = {
    clock: () => time.clock() - set.back,
    stopwatch: () => time.clock(),
    sleep: (ms: number, signal?: AbortSignal) => time.sleep(ms + set.longer, signal),
    openStore: async (_config: Config, options?: StoreOptions) => {
      if (copy !== undefined) options?.onCopy?.(copy);
      return store as unknown as Store;
    },
    untilAskedToStop: () => new Promise<string>(() => {}),
    prepareProcesses: () => ({
      ...{ startWorker: start("worker"), startConsole: start("console"), startSettler: start("settler") },
      clearUp: () => {},
    }),
  } as unknown as Runtime;
  const logger = createLogger("info", { write: (line) => logs.push(line) });
  const config = readConfig({}, { consolePort: "0" }, {});
  const service = await superviseService(runtime, config, { logger, logLine: undefined }, workers);
  /** Those that run. */
  const running = (role: Role) => children.filter((child) => child.role === role && !child.wasKilled);
  const said = () => logs.map((line) => JSON.parse(line) as { msg: string; cause?: string; file?: string });
  return { time, set, service, running, said, children };
}

test("the log says where the copy before an upgrade is", async () => {
  const copy = "/data/topupd.db.before-0002";
  const { said, service } = await superviseFakes({ copy });
  expect(said()).toMatchObject([{ file: copy }]);
  await service.stop({ drainSeconds: 0 });
});

test.each(["settler", "worker", "console"] as const)("a %s that hangs is replaced after 10 seconds", async (role) => {
  const { time, running, said, service } = await superviseFakes();
  const [child] = running(role);
  if (child === undefined) throw new Error("there is none");
  await time.pass(3_500);
  child.isHung = true;
  await time.pass(9_500);
  expect(child.wasKilled).toBe(false);
  await time.pass(2_000);
  expect(child.wasKilled).toBe(true);
  expect(said()).toContainEqual(
    expect.objectContaining({
      cause: "it did not answer for 10 seconds",
      msg: `a ${role} has ended and is restarted`,
    }),
  );
  await time.pass(60_000);
  expect(running(role)).toHaveLength(role === "worker" ? 2 : 1);
  await service.stop({ drainSeconds: 0 });
});

test("the console and a single worker are restarted on their ports; of several, each shares that of the others", async () => {
  for (const workers of [1, 2]) {
    const { time, children } = await superviseFakes({ workers });
    for (const child of [...children]) child.process.kill();
    await time.pass(5_000);
    const restarted = children.slice(workers + 2).filter(({ role }) => role !== "settler");
    const port = workers === 1 ? ["--port", "1"] : [];
    expect(restarted.map(({ flags }) => flags)).toEqual([
      ...Array.from({ length: workers }, () => port),
      ["--console-port", "1"],
    ]);
  }
});

test("eight workers share the look-ups of a partner, also with one that was restarted and after a restart of all", async () => {
  const counts: LookUpCount[] = [];
  const { time, running, service } = await superviseFakes({ workers: 8, counts });
  const lookUp = { partnerId: 1, environment: "production", limit: 600 } as const;
  const askAll = async (workers: readonly FakeChild[]) => {
    const asked = Array.from({ length: 800 }, (_, index) =>
      (workers[(index * 7) % workers.length] as FakeChild).countLookUp({ ...lookUp, key: `${index}` }),
    );
    return (await Promise.all(asked)).filter((wait) => wait === 0).length;
  };
  expect(await askAll(running("worker"))).toBe(600);
  running("worker")[0]?.process.kill();
  await time.pass(5_000);
  expect(running("worker")).toHaveLength(8);
  expect(await askAll(running("worker"))).toBe(600);
  // Killed without a stop: all but the last second is stored.
  expect(counts).toHaveLength(600);
  const next = await superviseFakes({ counts });
  const [worker] = next.running("worker");
  expect(await worker?.countLookUp({ ...lookUp, key: "0" })).toBe(0);
  expect(await worker?.countLookUp({ ...lookUp, key: "another" })).toBeGreaterThan(0);
  for (const each of [service, next.service]) await each.stop({ drainSeconds: 0 });
});

test("a child that answers again in time is left alone", async () => {
  const { time, running, said } = await superviseFakes();
  const [child] = running("worker");
  if (child === undefined) throw new Error("there is none");
  child.isHung = true;
  await time.pass(8_000);
  child.isHung = false;
  await time.pass(60_000);
  expect(child.wasKilled).toBe(false);
  expect(said().map(({ msg }) => msg)).toEqual(["a worker does not answer", "a worker answers again"]);
});

test("a pause of the supervisor itself does not count against its children", async () => {
  const { time, set, children } = await superviseFakes();
  await time.pass(5_000);
  // Each of the next looks comes a minute late, as after a stop.
  set.longer = 60_000;
  await time.pass(10 * 61_000);
  expect(children.filter(({ wasKilled }) => wasKilled)).toEqual([]);
});

test("every process knows since when the settler is away, and that it is back", async () => {
  const { time, running, children } = await superviseFakes();
  await time.pass(1_500);
  const [settler] = running("settler");
  if (settler === undefined) throw new Error("there is none");
  settler.isHung = true;
  await time.pass(4_000);
  const others = children.filter(({ role }) => role !== "settler");
  // Pinged in vain after two and three seconds.
  const failing = { ...WELL, recordingFailsSince: START + 4_000 };
  expect(others.map(problemsOf)).toEqual(others.map(() => failing));
  await time.pass(20_000);
  expect(others.map(problemsOf)).toEqual(others.map(() => WELL));
});

test("only the console gets the figures of all workers, and keeps them when the state changes", async () => {
  const { time, running, children } = await superviseFakes();
  await time.pass(6_000);
  const processes = (["settler", "worker", "console"] as const).map((role) => {
    return { role, count: role === "worker" ? 2 : 1, unavailable: 0, restarts: 0 };
  });
  running("worker")[0]?.say({ kind: "recording", failsSince: START });
  const figures = { topUpsAMinute: 72, allRestarts: 0, processes };
  expect(running("console")[0]?.state).toMatchObject({ recordingFailsSince: START, figures });
  const others = children.filter(({ role }) => role !== "console");
  expect(others.map(({ state }) => state.figures)).toEqual([undefined, undefined, undefined]);
});

test("a top-up that any worker records ends the failure that another worker has met", async () => {
  const { running, children } = await superviseFakes();
  const [first, second] = running("worker");
  first?.say({ kind: "recording", failsSince: START });
  expect(children.map(problemsOf)).toEqual(children.map(() => ({ ...WELL, recordingFailsSince: START })));
  second?.say({ kind: "recording", failsSince: undefined });
  expect(children.map(problemsOf)).toEqual(children.map(() => WELL));
});

test("a clock that is set back by more than a minute is told of until it shows the same time again", async () => {
  const { time, set, said, children } = await superviseFakes();
  await time.pass(5_000);
  set.back = 59_000;
  await time.pass(1_000);
  expect(said()).toEqual([]);
  set.back = 10 * 60_000;
  await time.pass(1_000);
  const from = START + 5_000;
  expect(children.map(problemsOf)).toEqual(children.map(() => ({ ...WELL, clockSetBackFrom: from })));
  expect(said()).toMatchObject([{ level: "warn", cause: `latest time shown: ${new Date(from).toISOString()}` }]);
  await time.pass(9 * 60_000 + 5_000);
  expect(children.map(problemsOf)).toEqual(children.map(() => WELL));
  expect(said()).toHaveLength(2);
});
