import { stringify } from "csv-stringify/sync";
import { guardCell } from "./cells.ts";

/** Rows as RFC 4180 has them, with CRLF at the end of each. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((cells) => cells.map(guardCell)),
    // By itself, it quotes no cell with a line end that is not the one between rows.
    { record_delimiter: "windows", quoted_match: /[\r\n]/ },
  );
}
