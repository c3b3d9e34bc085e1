import { StoreUnavailable } from "../../errors.ts";

/** Of a check that did not come to its end: nothing is known of what it has not looked at. */
export function unfinished(cause: StoreUnavailable): StoreUnavailable {
  return new StoreUnavailable(`the check was not finished: ${cause.message}. Set that right, and run it again`, {
    cause,
  });
}
