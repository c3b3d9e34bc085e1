import { describe, expect, test } from "vitest";
import { Batcher, type BatcherOptions } from "../../src/store/batcher.ts";
import { StoreContended, StoreUnavailable } from "../../src/store/errors.ts";

/** A batch that the test ends. */
interface Settling {
  readonly batch: readonly string[];
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

type Options = Omit<BatcherOptions<string, string>, "settle">;

/** A batcher whose batches wait for the test; the outcome is the item in capitals. */
function heldBatcher(options: Options = {}) {
  const settlings: Settling[] = [];
  const batcher = new Batcher<string, string>({
    settle: (batch) =>
      new Promise((resolve, reject) => {
        const succeed = () => resolve(batch.map((item) => item.toUpperCase()));
        settlings.push({ batch, succeed, fail: reject });
      }),
    ...options,
  });
  /** The next batch, which must begin without a timer. */
  const next = async () => {
    for (let turn = 0; settlings.length === 0 && turn < 5; turn += 1) await turnEnd();
    const settling = settlings.shift();
    if (settling === undefined) throw new Error("nothing is being settled");
    return settling;
  };
  return { batcher, next, settlings };
}

const turnEnd = () => new Promise((resolve) => setImmediate(resolve));

describe("the batcher", () => {
  test("settles a lone item at the end of its own turn", async () => {
    const { batcher, settlings } = heldBatcher();
    const outcome = batcher.add("a");
    expect(settlings).toHaveLength(0);
    await turnEnd();
    expect(settlings.map(({ batch }) => batch)).toEqual([["a"]]);
    settlings[0]?.succeed();
    expect(await outcome).toBe("A");
  });

  test("settles items of one turn together, in order", async () => {
    const { batcher, next } = heldBatcher();
    const outcomes = Promise.all(["a", "b", "c"].map((item) => batcher.add(item)));
    const settling = await next();
    expect(settling.batch).toEqual(["a", "b", "c"]);
    settling.succeed();
    expect(await outcomes).toEqual(["A", "B", "C"]);
  });

  test("lets items that arrive during a batch wait for the next one", async () => {
    const { batcher, next, settlings } = heldBatcher();
    const first = batcher.add("a");
    const settling = await next();
    const later = [batcher.add("b"), batcher.add("c")];
    await turnEnd();
    expect(settlings).toHaveLength(0);
    settling.succeed();
    expect(await first).toBe("A");
    const second = await next();
    expect(second.batch).toEqual(["b", "c"]);
    second.succeed();
    expect(await Promise.all(later)).toEqual(["B", "C"]);
  });

  test("never puts more into a batch than it may hold", async () => {
    const { batcher, next } = heldBatcher({ maxBatch: 2 });
    const outcomes = Promise.all(["a", "b", "c", "d", "e"].map((item) => batcher.add(item)));
    const batches: (readonly string[])[] = [];
    for (let count = 0; count < 3; count += 1) {
      const settling = await next();
      batches.push(settling.batch);
      settling.succeed();
    }
    expect(batches).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    expect(await outcomes).toEqual(["A", "B", "C", "D", "E"]);
  });

  test("tries the items of a batch that failed one by one, so that the bad one fails alone", async () => {
    const { batcher, next } = heldBatcher();
    const outcomes = Promise.allSettled(["a", "bad", "c"].map((item) => batcher.add(item)));
    (await next()).fail(new Error("an item is bad"));
    const alone: (readonly string[])[] = [];
    for (let count = 0; count < 3; count += 1) {
      const settling = await next();
      alone.push(settling.batch);
      if (settling.batch[0] === "bad") settling.fail(new Error("I am bad"));
      else settling.succeed();
    }
    expect(alone).toEqual([["a"], ["bad"], ["c"]]);
    expect(await outcomes).toEqual([
      { status: "fulfilled", value: "A" },
      { status: "rejected", reason: new Error("I am bad") },
      { status: "fulfilled", value: "C" },
    ]);
  });

  test("tells its observer of every attempt: how many items, and how it ended, when it has", async () => {
    const heard: string[] = [];
    const observe = (items: number) => {
      heard.push(`${items} began`);
      return (committed: boolean) => heard.push(`${items} ${committed ? "committed" : "failed"}`);
    };
    const { batcher, next } = heldBatcher({ observe });
    const outcomes = Promise.allSettled(["a", "bad"].map((item) => batcher.add(item)));
    const first = await next();
    expect(heard).toEqual(["2 began"]);
    first.fail(new Error("an item is bad"));
    (await next()).succeed();
    (await next()).fail(new Error("I am bad"));
    await outcomes;
    expect(heard.slice(1)).toEqual(["2 failed", "1 began", "1 committed", "1 began", "1 failed"]);
  });

  test("settles as ever where its observer fails", async () => {
    const fail = () => {
      throw new Error("deaf");
    };
    for (const observe of [fail, () => fail]) {
      const { batcher, next } = heldBatcher({ observe });
      const outcome = batcher.add("a");
      (await next()).succeed();
      expect(await outcome).toBe("A");
      const failing = batcher.add("b");
      (await next()).fail(new Error("spoilt"));
      await expect(failing).rejects.toThrow("spoilt");
    }
  });

  test("does not try a lone item again", async () => {
    const { batcher, next, settlings } = heldBatcher();
    const outcome = batcher.add("bad");
    (await next()).fail(new Error("I am bad"));
    await expect(outcome).rejects.toThrow("I am bad");
    await batcher.drained();
    expect(settlings).toHaveLength(0);
  });

  test("does not retry if it is unknown whether the batch was recorded", async () => {
    const { batcher, next, settlings } = heldBatcher();
    const outcomes = Promise.allSettled(["a", "b"].map((item) => batcher.add(item)));
    const away = new StoreUnavailable("the store is unavailable");
    (await next()).fail(away);
    expect(await outcomes).toEqual([
      { status: "rejected", reason: away },
      { status: "rejected", reason: away },
    ]);
    await batcher.drained();
    expect(settlings).toHaveLength(0);
  });

  test("stops trying one by one if the store is unavailable, and rejects waiting items", async () => {
    const away = new StoreUnavailable("the store is unavailable");
    const { batcher, next, settlings } = heldBatcher();
    const outcomes = Promise.allSettled(["a", "b", "c", "d"].map((item) => batcher.add(item)));
    (await next()).fail(new Error("an item is bad"));
    (await next()).succeed();
    const settling = await next();
    const late = Promise.allSettled([batcher.add("late")]);
    settling.fail(away);
    const turnedAway = { status: "rejected", reason: away };
    expect(await outcomes).toEqual([{ status: "fulfilled", value: "A" }, turnedAway, turnedAway, turnedAway]);
    expect(await late).toEqual([turnedAway]);
    await batcher.drained();
    expect(settlings).toHaveLength(0);
    const later = batcher.add("e");
    (await next()).succeed();
    expect(await later).toBe("E");
  });

  test("refuses items beyond the limit, and accepts them again when there is room", async () => {
    const { batcher, next } = heldBatcher({ maxWaiting: 2 });
    const inHand = batcher.add("a");
    const settling = await next();
    const waiting = [batcher.add("b"), batcher.add("c")];
    await expect(batcher.add("d")).rejects.toThrow(StoreContended);
    settling.succeed();
    expect(await inHand).toBe("A");
    (await next()).succeed();
    expect(await Promise.all(waiting)).toEqual(["B", "C"]);
    const later = batcher.add("e");
    (await next()).succeed();
    expect(await later).toBe("E");
  });

  test("is drained only once nothing is waiting or being settled", async () => {
    const { batcher, next } = heldBatcher({ maxBatch: 1 });
    const outcomes = Promise.all([batcher.add("a"), batcher.add("b")]);
    let drained = false;
    const draining = batcher.drained().then(() => {
      drained = true;
    });
    (await next()).succeed();
    const last = await next();
    expect(drained).toBe(false);
    last.succeed();
    await draining;
    expect(await outcomes).toEqual(["A", "B"]);
  });
});

describe("a batcher that may settle several batches at a time", () => {
  /** Items share a lane if they begin with the same letter. */
  const concurrency = { maxBatches: 2, worthwhile: 3, lane: (item: string) => item[0] };

  test("begins a further one once enough items wait, and not before", async () => {
    const { batcher, next, settlings } = heldBatcher({ concurrency });
    const outcomes = [batcher.add("a")];
    const first = await next();
    outcomes.push(batcher.add("b"), batcher.add("c"));
    await turnEnd();
    expect(settlings).toHaveLength(0);
    outcomes.push(batcher.add("d"));
    const second = await next();
    expect(second.batch).toEqual(["b", "c", "d"]);
    second.succeed();
    expect(await outcomes[3]).toBe("D");
    first.succeed();
    expect(await outcomes[0]).toBe("A");
  });

  test("has no more in hand than it may", async () => {
    const { batcher, next, settlings } = heldBatcher({ concurrency, maxBatch: 3 });
    const outcomes = Promise.all(Array.from("abcdefghi").map((item) => batcher.add(item)));
    const [first, second] = [await next(), await next()];
    await turnEnd();
    expect(settlings).toHaveLength(0);
    expect([first.batch, second.batch]).toEqual([
      ["a", "b", "c"],
      ["d", "e", "f"],
    ]);
    first.succeed();
    (await next()).succeed();
    second.succeed();
    expect((await outcomes).join("")).toBe("ABCDEFGHI");
  });

  test("never settles two items of one lane side by side, and keeps their order", async () => {
    const { batcher, next, settlings } = heldBatcher({ concurrency });
    const first = batcher.add("a1");
    const settling = await next();
    const others = Promise.all(["a2", "b1", "a3", "c1"].map((item) => batcher.add(item)));
    const beside = await next();
    expect(beside.batch).toEqual(["b1", "c1"]);
    beside.succeed();
    await turnEnd();
    expect(settlings).toHaveLength(0);
    settling.succeed();
    await first;
    const last = await next();
    expect(last.batch).toEqual(["a2", "a3"]);
    last.succeed();
    expect(await others).toEqual(["A2", "B1", "A3", "C1"]);
    await batcher.drained();
  });

  test("keeps the lanes of a batch whose items it tries one by one", async () => {
    const { batcher, next, settlings } = heldBatcher({ concurrency });
    const outcomes = Promise.allSettled(["a1", "b1"].map((item) => batcher.add(item)));
    (await next()).fail(new Error("an item is bad"));
    const alone = await next();
    const later = Promise.all(["b2", "b3", "b4"].map((item) => batcher.add(item)));
    await turnEnd();
    expect(settlings).toHaveLength(0);
    alone.succeed();
    (await next()).succeed();
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    const last = await next();
    expect(last.batch).toEqual(["b2", "b3", "b4"]);
    last.succeed();
    await later;
  });

  test("is drained only once all of them are settled", async () => {
    const { batcher, next } = heldBatcher({ concurrency, maxBatch: 3 });
    const outcomes = Promise.all(Array.from("abcdef").map((item) => batcher.add(item)));
    const [first, second] = [await next(), await next()];
    let drained = false;
    const draining = batcher.drained().then(() => {
      drained = true;
    });
    first.succeed();
    await turnEnd();
    expect(drained).toBe(false);
    second.succeed();
    await draining;
    await outcomes;
  });
});
