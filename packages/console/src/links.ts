/** Address of a customer's page. */
export function customerHref({ cuid }: { readonly cuid: string }): string {
  return `/customers/${encodeURIComponent(cuid)}`;
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
