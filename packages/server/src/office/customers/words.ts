import type { Static } from "typebox";
import type { ProviderSettings } from "../../store/store.ts";
import type { Shown } from "../operation.ts";
import { blockLines, count, fieldLines, printable, shellWord } from "../text.ts";
import type { TransactionListSchema } from "../transactions/schemas.ts";
import { transactionLines } from "../transactions/words.ts";
import type { CustomerSchema } from "./schemas.ts";

type Customer = Static<typeof CustomerSchema>;

/** A customer with connections, subscriptions and the newest top-ups, for a terminal. */
export function customerText(
  { cuid, firstName, lastName, environment, mobile, status, connections }: Customer,
  { items, cursor }: Static<typeof TransactionListSchema>,
  provider: ProviderSettings,
): Shown {
  const profile = fieldLines([
    ["customer", `${cuid} ${firstName} ${lastName} (${environment})`],
    ["mobile", mobile ?? "-"],
    ["status", status],
  ]);
  const parts = connections.map((each) => connectionText(each, provider)).join("");
  if (items.length === 0) return { out: `${profile}${parts}\nNo top-ups.\n` };
  const title = cursor === null ? count(items.length, "top-up") : `The newest ${items.length} top-ups`;
  const list = `topupd transaction list --cuid ${shellWord(cuid)}${environment === "trial" ? " --environment trial" : ""}`;
  return {
    out: `${profile}${parts}\n${title}:\n\n${transactionLines(items)}`,
    note: cursor === null ? "" : `There are more: ${printable(list)}\n`,
  };
}

function connectionText(connection: Customer["connections"][number], { zone }: ProviderSettings): string {
  const { service, reqId, status, segment, blockedByStaff, blockedByRecords } = connection;
  const subscriptions = connection.subscriptions.map(({ bouquetId, name, start, end, running }) => {
    return `  ${printable(`${name} (${bouquetId})`)}\n    since ${start}, ${running ? "ends" : "ended"} ${end}\n`;
  });
  const title = `${service} ${reqId}  ${status}${segment === null ? "" : `, segment ${segment}`}`;
  const block = blockedByStaff && { ...blockedByStaff, wall: zone.wallTime(Date.parse(blockedByStaff.at)) };
  const blocked = blockLines(block, blockedByRecords).map((line) => `  ${line}`);
  return `\n${printable(title)}\n${blocked.join("")}${subscriptions.join("") || "  no subscription\n"}`;
}
