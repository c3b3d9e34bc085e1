import { describe, expect, test } from "vitest";
import { describeProcess, type ProcessFigures } from "../../src/metrics/process-figures.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { interposed } from "../support/interposed-store.ts";
import { startMeasuredService } from "../support/measured-service.ts";

/** A store with a ping that the test defines. */
const withPing = (ping: () => Promise<void>) => interposed(new Map([["ping", ping]]));

describe("the process in a scrape", () => {
  const delay = { p50Seconds: 0.0001, p99Seconds: 0.002, maxSeconds: 0.03 };
  const figures = {
    startedAtSeconds: 1_795_000_000.5,
    cpuSeconds: 12.5,
    residentBytes: 100_000_000,
    heapUsedBytes: 40,
    delay,
  };
  const told = (openFiles: ProcessFigures["openFiles"]) =>
    describeProcess({ ...figures, openFiles }, { version: "1.2.3" }).flatMap(({ name, samples }) =>
      samples.map(({ labels, value }) => [name, ...Object.values(labels), value].join(" ")),
    );

  test("is what the process told, each under its own name", () => {
    expect(told({ open: 34, most: 65_536 })).toEqual([
      "process_start_time_seconds 1795000000.5",
      "process_cpu_seconds_total 12.5",
      "process_resident_memory_bytes 100000000",
      "process_open_fds 34",
      "process_max_fds 65536",
      "topupd_heap_used_bytes 40",
      "topupd_event_loop_delay_seconds p50 0.0001",
      "topupd_event_loop_delay_seconds p99 0.002",
      "topupd_event_loop_delay_seconds max 0.03",
      "topupd_build_info 1.2.3 1",
    ]);
  });

  test("leaves out the open files if the system does not report them", () => {
    expect(told(undefined).filter((line) => line.includes("_fds"))).toEqual([]);
  });
});

describe("the store in a scrape", () => {
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

  test("is 0 if the store hangs; a scrape does not wait, and pings only once", async () => {
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
