import type { ProviderSettings } from "../../store/store.ts";
import type { Version } from "../versions/version.ts";
import type { Json } from "./components.ts";

/** What a reader of the document is told first. */
export function introduce({ name, successor }: Version, { zone, currencyExponent }: ProviderSettings): Json {
  return {
    title: "Subscription Top-up Service Interface",
    version: name.slice(1),
    summary: "Look up a customer, list packages, top up, and ask what became of it.",
    description: [
      successor === undefined
        ? "The current version."
        : `An older version. Its successor is ${successor}; both stay, and a checkoutId of one works on the other.`,
      "1. `get-customer-information` finds the customer and the connections.\n2. `get-subscription-package` lists what can be bought for one of them, and gives a `checkoutId`: store it with your order before you go on.\n3. `subscription-package-topup` buys, and answers when that is safely on disk.\n4. `txn-status` says what became of it. Call it after every top-up, and whenever an answer was lost.",
      `Amounts are in major units with at most ${currencyExponent} decimals. Timestamps are in the time zone ${zone.name}.`,
      "A failure says in `body.retry` what a program does next. Paths that do not exist are answered with 404 `unknown_operation`, other methods than POST with 405 `method_not_allowed`.",
      "Put questions to the provider, with the `X-Request-Id` of the answer.",
    ].join("\n\n"),
    // Without an address: the document is of a deployment, and its provider answers for it.
    contact: { name: "topupd" },
    license: { name: "MIT", identifier: "MIT" },
  };
}
