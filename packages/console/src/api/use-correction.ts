import { usePreview, useSend } from "./hooks.ts";
import type { CorrectionKey, Input } from "./request.ts";

/** Stands for the reason in a preview, which requires one and keeps none. */
const NO_REASON = "preview";

/** Previews a correction, and commits it with a reason. An input of null previews nothing yet. */
export function useCorrection<K extends CorrectionKey>(key: K, input: Omit<Input<K>, "reason" | "preview"> | null) {
  const withReason = (reason: string) => ({ ...input, reason }) as Input<K>;
  const send = useSend(key);
  const { data, error, isFetching } = usePreview(key, input && withReason(NO_REASON));
  const effect = input === null || error !== null ? undefined : data;
  return {
    /** Preview of the correction; the previous one until the new one is loaded. */
    effect,
    error: input === null ? null : error,
    isReady: effect !== undefined && !isFetching,
    commit: (reason: string) => send.mutateAsync(withReason(reason)),
  };
}
