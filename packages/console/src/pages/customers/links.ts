import type { CustomerMatch } from "../../api/types.ts";

export function customerHref({ cuid }: Pick<CustomerMatch, "cuid">): string {
  return `/customers/${encodeURIComponent(cuid)}`;
}
