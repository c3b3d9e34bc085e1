import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Partitions, partitionOf } from "../../src/operations/partitions.ts";
import type { Scratch } from "../../src/operations/scratch.ts";
import { RUNS } from "../domain/builders.ts";

/** In memory, so that a test sees what was written. */
function makeScratch(): Scratch & { readonly bytes: () => number } {
  let file = Buffer.alloc(0);
  return {
    append: async (block) => {
      file = Buffer.concat([file, block]);
      return file.length - block.length;
    },
    read: async (at, bytes) => file.subarray(at, at + bytes),
    close: async () => {},
    bytes: () => file.length,
  };
}

async function takeAll(partitions: Partitions, partition: number): Promise<unknown[]> {
  const taken: unknown[] = [];
  for await (const records of partitions.take(partition)) taken.push(...records);
  return taken;
}

const COUNT = 3;
const anyRecords = fc.array(
  fc.record({
    partition: fc.nat({ max: COUNT - 1 }),
    // Some are larger than a block, and in other writings than Latin.
    text: fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("🙂".repeat(9_000), "x".repeat(17_000), "\n,[]")),
    spills: fc.boolean(),
  }),
  { maxLength: 30 },
);

describe("partitions", () => {
  test("give back what was added to each, in its order, whatever has gone to the disk meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, async (records) => {
        const partitions = new Partitions(makeScratch(), COUNT);
        for (const [index, { partition, text, spills }] of records.entries()) {
          partitions.add(partition, [index, text]);
          if (spills) await partitions.spill();
        }
        for (let partition = 0; partition < COUNT; partition += 1) {
          const added = records.flatMap((one, index) => (one.partition === partition ? [[index, one.text]] : []));
          expect(await takeAll(partitions, partition)).toEqual(added);
          expect(await takeAll(partitions, partition)).toEqual([]);
        }
      }),
      { ...RUNS, numRuns: 100 },
    );
  });

  test("keep on disk what is large, and in memory what is not worth a write", async () => {
    const scratch = makeScratch();
    const partitions = new Partitions(scratch, COUNT);
    partitions.add(0, ["small"]);
    await partitions.spill();
    expect(scratch.bytes()).toBe(0);
    partitions.add(0, ["x".repeat(20_000)]);
    await partitions.spill();
    expect(scratch.bytes()).toBeGreaterThan(20_000);
  });

  test("are about equally full, whatever keys look like", () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let order = 0; order < 16_000; order += 1) {
      const partition = partitionOf(`order-${order}`, counts.length);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(500);
    expect(Math.max(...counts)).toBeLessThan(2_000);
  });
});
