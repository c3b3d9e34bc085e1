/** Address of a list with filters. Filters that are "" or undefined are left out. */
export function listHref(path: string, filters: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) search.set(name, value);
  return search.size === 0 ? path : `${path}?${search}`;
}

/** Address of a customer's page. */
export function customerHref({ cuid }: { readonly cuid: string }): string {
  return `/customers/${encodeURIComponent(cuid)}`;
}

/** Address of the customers that fit a search. */
export function customersHref(q: string): string {
  return `/customers?q=${encodeURIComponent(q)}`;
}

export function transactionHref({ txnId }: { readonly txnId: string }): string {
  return `/transactions/${encodeURIComponent(txnId)}`;
}

export function partnerHref({ name }: { readonly name: string }): string {
  return `/partners/${encodeURIComponent(name)}`;
}

export function targetHref({ name }: { readonly name: string }): string {
  return `/targets/${encodeURIComponent(name)}`;
}
