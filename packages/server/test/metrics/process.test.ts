import { describe, expect, test } from "vitest";
import { describeProcess, type ProcessFigures } from "../../src/metrics/process-figures.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { interposed } from "../support/interposed-store.ts";
import { startMeasuredService } from "../support/measured-service.ts";

/** A store whose ping does what the test says. */
const withPing = (ping: () => Promise<void>) => interposed(new Map([["ping", ping]]));

describe("what a scrape tells of the process", () => {
  test("is what the process told, each under its own name", async () => {
    const { read } = await startMeasuredService();
    const { value, samples } = await read();
    expect(value("process_start_time_seconds")).toBe(1_795_000_000.5);
    expect(value("process_cpu_seconds_total")).toBe(12.5);
    expect(value("process_resident_memory_bytes")).toBe(100_000_000);
    expect(value("topupd_heap_used_bytes")).toBe(40_000_000);
    expect([value("process_open_fds"), value("process_max_fds")]).toEqual([34, 65_536]);
    const delays = samples("topupd_event_loop_delay_seconds").map(({ labels, value }) => [labels["statistic"], value]);
    expect(delays).toEqual([
      ["p50", 0.0001],
      ["p99", 0.002],
      ["max", 0.03],
    ]);
    const build = { version: "1.2.3", node: "v20.20.0", store: "sqlite" };
    expect(samples("topupd_build_info").map(({ labels, value }) => [labels, value])).toEqual([[build, 1]]);
  });

  test("leaves out the open files where the system does not tell of them", () => {
    const delay = { p50Seconds: 0, p99Seconds: 0, maxSeconds: 0 };
    const figures = { startedAtSeconds: 1, cpuSeconds: 1, residentBytes: 1, heapUsedBytes: 1, delay };
    const names = (openFiles: ProcessFigures["openFiles"]) =>
      describeProcess({ ...figures, openFiles }, {}).map(({ name }) => name);
    const told = names({ open: 1, most: 2 });
    expect(names(undefined)).toEqual(told.filter((name) => !name.endsWith("_fds")));
    expect(told).toHaveLength(names(undefined).length + 2);
  });

  test("has no other names than topupd's and those of every process", async () => {
    const { read } = await startMeasuredService();
    expect([...(await read()).families.keys()].filter((name) => !/^(topupd|process)_/.test(name))).toEqual([]);
  });
});

describe("what a scrape tells of the store", () => {
  test("is 1 while it answers, 0 while it is away, and 1 when it is back", async () => {
    let trouble: Error | undefined;
    const wrapStore = withPing(async () => {
      if (trouble !== undefined) throw trouble;
    });
    const { read } = await startMeasuredService({ wrapStore });
    const up = async () => (await read()).value("topupd_store_up");
    expect(await up()).toBe(1);
    trouble = new StoreUnavailable("the disk is full");
    expect(await up()).toBe(0);
    trouble = undefined;
    expect(await up()).toBe(1);
  });

  test("is 0 where it stands still, which a scrape does not wait for, nor asks it twice", async () => {
    let asked = 0;
    let answer = () => {};
    const wrapStore = withPing(() => {
      asked += 1;
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const { read } = await startMeasuredService({ wrapStore });
    const up = async () => (await read()).value("topupd_store_up");
    expect([await up(), await up(), asked]).toEqual([0, 0, 1]);
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    const later = up();
    while (asked < 2) await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect(await later).toBe(1);
  });
});
