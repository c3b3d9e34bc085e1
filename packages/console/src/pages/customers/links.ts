import type { CustomerMatch } from "../../api/staff-api.d.ts";

export function customerHref({ cuid }: Pick<CustomerMatch, "cuid">): string {
  return `/customers/${encodeURIComponent(cuid)}`;
}
