import type { Subscription } from "../../domain/subscription.ts";
import { isoTime } from "../output.ts";
import type { Showing } from "./transaction-output.ts";

/** In the words of the interface (section 2), beside both times as instants. */
export function subscriptionJson(subscription: Subscription | undefined, { calendar }: Pick<Showing, "calendar">) {
  if (subscription === undefined) return null;
  const { bouquet, start, end, span } = subscription;
  return {
    ...{ code: bouquet.code, name: bouquet.name, addOn: bouquet.addOn },
    ...{ startdate: calendar.format(start), enddate: calendar.format(end) },
    ...{ startAt: isoTime(start), endAt: isoTime(end), span },
  };
}

export function endWords(subscription: Subscription | undefined, { calendar }: Pick<Showing, "calendar">): string {
  return subscription === undefined ? "none" : `ends ${calendar.format(subscription.end)}`;
}
