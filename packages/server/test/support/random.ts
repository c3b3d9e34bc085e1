import { createHash } from "node:crypto";

/** Bytes that look random and are the same for the same seed, so that a failing test fails again. */
export function seededRandom(seed: number): (bytes: number) => Uint8Array {
  let count = 0;
  return (bytes) => {
    const blocks: Buffer[] = [];
    for (let have = 0; have < bytes; have += 32) {
      count += 1;
      blocks.push(createHash("sha256").update(`${seed}:${count}`).digest());
    }
    return Buffer.concat(blocks).subarray(0, bytes);
  };
}
