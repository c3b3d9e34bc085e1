import type { Query } from "./client.ts";
import { usePreview, useSend } from "./hooks.ts";

/** A preview asks for a reason too, and keeps none. */
const NO_REASON = { reason: "preview" };

/**
 * A correction that asks for a reason: what it would do, and doing it.
 * @param body all but the reason; null: nothing can be previewed yet.
 */
export function useCorrection<Effect>(path: string, body: object | null, query: Query = {}) {
  const send = useSend<Effect>();
  const { data, error, isFetching } = usePreview<Effect>(path, body && { ...body, ...NO_REASON }, query);
  const effect = body === null || error !== null ? undefined : data;
  return {
    /** What it would do; of the former body until that of this one is known. */
    effect,
    error: body === null ? null : error,
    isReady: effect !== undefined && !isFetching,
    commit: (reason: string) => send.mutateAsync({ method: "post", path, query, body: { ...body, reason } }),
  };
}
