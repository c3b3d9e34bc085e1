import { dataExported } from "../domain/audit.ts";
import { type Decider, decide } from "./decide.ts";
import type { Said } from "./fields.ts";

/** Filters whose values are audited. The values of others can name a customer. */
const NOT_PERSONAL: ReadonlySet<string> = new Set([
  ...["environment", "from", "to", "month", "detail", "partner", "seller", "service", "segment", "area", "bouquet"],
  ...["status", "amount", "state", "endsWithin", "endedWithin", "settled", "kind"],
]);

/** Writes the audit entry of an operation that streams rows. */
export async function auditExport(
  office: Decider,
  { http = "", answer }: { readonly http?: string; readonly answer?: unknown },
  input: object,
): Promise<void> {
  if ((answer as Said | undefined)?.rows === undefined) return;
  const filter = new Map<string, unknown>(Object.entries(input));
  const file = http.replace(/^.* \//, "").replace(/:(\w+)/g, (_, name: string) => {
    const value = String(filter.get(name));
    filter.delete(name);
    return value;
  });
  for (const name of filter.keys()) if (!NOT_PERSONAL.has(name)) filter.set(name, "not recorded");
  const audit = [dataExported(file, Object.fromEntries(filter))];
  await decide(office, "reference", async () => ({ answer: undefined, change: { async write() {}, audit } }));
}
