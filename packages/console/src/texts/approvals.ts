import { bulk } from "./bulk.ts";
import { partnerAccounts } from "./partner-accounts.ts";
import { transactions } from "./transactions.ts";

export const approvals = {
  waits: (by: string, age: string, what: string, reason: string) =>
    `${by} asked ${age}: ${what}${reason === "" ? "" : ` (${reason})`}`,
  reversal: (amount: string, cuid: string) => `Reverse ${amount} of customer ${cuid}`,
  entry: (kind: string, amount: string, partner: string, reference: string) =>
    `${kind} of ${amount} for ${partner}, reference ${reference}`,
  creditLimit: (partner: string, amount: string) => `Credit limit of ${partner}: ${amount}`,
  see: "See it",
  own: "Another person must confirm it.",
  onePerson: (by: string) =>
    `Another person must confirm it: you and ${by} count as one, as one has access to the other's account or key.`,
  confirm: "Confirm",
  confirmTitle: "Confirm the request",
  confirmTexts: {
    reversal: transactions.reverseText,
    bulk: bulk.confirmText,
    account_entry: "You cannot change the entry later.",
    credit_limit: partnerAccounts.settingsText,
  },
  confirmed: "Confirmed.",
  refuse: "Refuse",
  withdraw: "Withdraw",
  refuseTitle: "Refuse the request",
  withdrawTitle: "Withdraw the request",
  refuseText: "Nothing changes. It can be requested again.",
  refused: "Nothing was changed.",
  wasRefused: (by: string, reason: string) => `${by} refused to confirm its reversal: ${reason}`,
} as const;
