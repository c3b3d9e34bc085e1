import type { SourceRow } from "../../operations/source-rows.ts";
import { TRANSACTIONS_HEADER } from "./exported-transaction.ts";
import { objectOf, readCsvLines } from "./reading.ts";

/** The rows of an export of transactions in CSV: one top-up on each line. */
export async function* readTransactionsCsv(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceRow[]> {
  for await (const lines of readCsvLines(pieces, TRANSACTIONS_HEADER)) {
    yield lines.map(({ line, cells, problems }): SourceRow => {
      if (problems.length > 0) return { line, value: { ok: false, problems } };
      return { line, value: { ok: true, value: objectOf(Object.fromEntries(cells)) } };
    });
  }
}
