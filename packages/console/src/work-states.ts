/** The states of uploaded files, imports and bulk changes. */
export const TONES = {
  checking: "info",
  checked: "warning",
  waiting: "warning",
  running: "info",
  paused: "warning",
  done: "success",
  cancelled: "warning",
  refused: "danger",
  failed: "danger",
} as const;

export function isUnderWay(state: keyof typeof TONES): boolean {
  return state === "checking" || state === "running";
}
