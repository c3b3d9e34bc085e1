import { expect, test } from "vitest";
import { TokenUses } from "../../src/partner/gathering.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";

/** A store that only takes uses, and a sleep that the test ends. */
function scene() {
  const written: (readonly (readonly [string, number])[])[] = [];
  const failures: unknown[] = [];
  const asleep: { ms: number; wake: () => void }[] = [];
  const store = {
    fails: false,
    failsNext: false,
    /** What a write waits for. */
    held: Promise.resolve(),
    recordTokenUses: async (uses: ReadonlyMap<string, number>) => {
      await store.held;
      if (store.failsNext) {
        store.failsNext = false;
        throw new StoreUnavailable("away");
      }
      if (store.fails) throw new StoreUnavailable("away");
      written.push([...uses]);
    },
  };
  const uses = new TokenUses({
    record: (uses) => store.recordTokenUses(uses),
    onFailure: (error) => failures.push((error as Error).message),
  });
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      asleep.push({ ms, wake: resolve });
      signal.addEventListener("abort", () => resolve());
    });
  /** Lets half a minute pass; resolves once the next one has begun. */
  const pass = async () => {
    const rounds = asleep.length;
    asleep.at(-1)?.wake();
    await expect.poll(() => asleep.length).toBe(rounds + 1);
  };
  return { uses, store, written, failures, asleep, sleep, pass };
}

test("uses are written together every 30 seconds, each token's latest, and nothing where there is none", async () => {
  const { uses, sleep, pass, written, asleep } = scene();
  uses.keepWriting(sleep);
  uses.note("tok_1", 1);
  uses.note("tok_2", 2);
  uses.note("tok_1", 3);
  expect(written).toEqual([]);
  await pass();
  expect(written).toEqual([
    [
      ["tok_1", 3],
      ["tok_2", 2],
    ],
  ]);
  await pass();
  uses.note("tok_2", 4);
  await pass();
  expect(written.slice(1)).toEqual([[["tok_2", 4]]]);
  expect(new Set(asleep.map(({ ms }) => ms))).toEqual(new Set([30_000]));
  await uses.close();
});

test("what is left is written when the process stops", async () => {
  const { uses, sleep, written } = scene();
  uses.keepWriting(sleep);
  uses.note("tok_1", 1);
  await uses.close();
  expect(written).toEqual([[["tok_1", 1]]]);
});

test("what a store does not take is kept, told, and written with what has come since", async () => {
  const { uses, store, sleep, pass, written, failures } = scene();
  uses.keepWriting(sleep);
  uses.note("tok_1", 1);
  uses.note("tok_2", 2);
  store.fails = true;
  await pass();
  uses.note("tok_1", 5);
  await pass();
  expect([written, failures]).toEqual([[], ["away", "away"]]);
  store.fails = false;
  await pass();
  expect(written).toEqual([
    [
      ["tok_1", 5],
      ["tok_2", 2],
    ],
  ]);
  await uses.close();
  expect(written).toHaveLength(1);
});

test.each([false, true])(
  "what comes while a write is under way is written when the process stops: %j",
  async (fails) => {
    const { uses, store, sleep, written, asleep } = scene();
    let goOn = () => {};
    store.held = new Promise((resolve) => {
      goOn = resolve;
    });
    uses.keepWriting(sleep);
    uses.note("tok_1", 1);
    asleep.at(-1)?.wake();
    await new Promise(setImmediate);
    uses.note("tok_1", 2);
    uses.note("tok_2", 3);
    const closed = uses.close();
    store.failsNext = fails;
    goOn();
    await closed;
    const late = [
      ["tok_1", 2],
      ["tok_2", 3],
    ];
    expect(written).toEqual(fails ? [late] : [[["tok_1", 1]], late]);
  },
);

test("a store that takes nothing does not keep the process from stopping", async () => {
  const { uses, store, sleep, failures } = scene();
  uses.keepWriting(sleep);
  uses.note("tok_1", 1);
  store.fails = true;
  await uses.close();
  expect(failures).toEqual(["away"]);
});
