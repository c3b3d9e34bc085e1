/** What a promise was rejected with: an error in any case, since anything else would be taken for an answer, or for none. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("rejected with what is no error", { cause: reason });
}
