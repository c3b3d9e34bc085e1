import type { CheckEvent, ProviderSettings } from "../../store.ts";
import { e164Of } from "../provider-settings.ts";

/** Every customer who has a mobile number. */
export const MOBILE_NUMBERS = "SELECT cuid, environment, mobile, mobile_e164 FROM customer WHERE mobile IS NOT NULL";

interface MobileRow {
  readonly cuid: string;
  readonly environment: string;
  readonly mobile: string;
  readonly mobile_e164: string | null;
}

/** Of all that are found, since a country that changes its numbers changes those of everybody. */
const MOST_NAMED = 10;

/**
 * Finds the one form of each mobile number anew: what is known of a country's numbers changes from one topupd to
 * the next, and a number is looked up by the form that it has today.
 * @param rows as {@link MOBILE_NUMBERS} finds them.
 */
export async function* checkMobileForms(
  rows: AsyncIterable<unknown> | Iterable<unknown>,
  provider: ProviderSettings,
): AsyncGenerator<CheckEvent> {
  let [count, wrong] = [0, 0];
  const named: string[] = [];
  for await (const row of rows as AsyncIterable<MobileRow>) {
    count += 1;
    if (row.mobile_e164 === e164Of(row.mobile, provider)) continue;
    wrong += 1;
    if (named.length < MOST_NAMED) named.push(`${row.cuid} (${row.environment})`);
  }
  if (wrong === 0) {
    yield { kind: "checked", what: "mobile numbers have the form by which they are looked up", count };
    return;
  }
  const others = wrong > named.length ? ` and ${wrong - named.length} others` : "";
  yield {
    kind: "wrong",
    what: `${wrong} mobile numbers have another form than that by which they are looked up: import these customers again: ${named.join(", ")}${others}`,
  };
}
