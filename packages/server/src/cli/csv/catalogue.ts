import type { SourceRow } from "../../operations/source-rows.ts";
import { CATALOGUE_COLUMNS } from "./cells.ts";
import { flagOf, linesOf, objectOf, readCsvLines } from "./reading.ts";

/** The rows of a catalogue in CSV: one bouquet on each line. */
export async function* readCatalogueCsv(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceRow[]> {
  for await (const lines of readCsvLines(pieces, CATALOGUE_COLUMNS)) {
    yield lines.map(({ line, cells, problems }): SourceRow => {
      if (problems.length > 0) return { line, value: { ok: false, problems } };
      const { segments, retired, ...texts } = Object.fromEntries(cells);
      const value = objectOf({ ...texts, segments: segments && linesOf(segments), retired: flagOf(retired) });
      return { line, value: { ok: true, value } };
    });
  }
}
