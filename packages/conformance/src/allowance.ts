/** More than any listing needs; a service that never stops sending is cut off here. */
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;
/** Answers are kept until they are judged, and take twenty times as much memory as on the way, or more. */
const RUN_MAX_BYTES = 4 * ANSWER_MAX_BYTES;
/** So much may come in any case: a run that has begun to spend must be able to read its top-ups. */
const ALWAYS_MAX_BYTES = 64 * 1024;

/** How long the answers of a run may be, all together. */
export interface Allowance {
  /** For the next answer, in bytes. */
  readonly maxBytes: () => number;
  readonly take: (sizeBytes: number) => void;
}

export function createAllowance(): Allowance {
  let left = RUN_MAX_BYTES;
  return {
    maxBytes: () => Math.max(ALWAYS_MAX_BYTES, Math.min(ANSWER_MAX_BYTES, left)),
    take: (sizeBytes) => {
      left -= sizeBytes;
    },
  };
}
