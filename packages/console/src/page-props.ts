/** Decoded parts of the page's address. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}
