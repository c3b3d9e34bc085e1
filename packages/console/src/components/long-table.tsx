import { type ComponentProps, useState } from "react";
import { formatCount } from "../format.ts";
import { texts } from "../texts/index.ts";
import { Button } from "./button.tsx";
import { DataTable } from "./data-table.tsx";

const AT_ONCE = 200;

/** A DataTable that shows many loaded rows step by step. Its columns have no `sort`. */
export function LongTable<Row>({
  rows,
  atOnce = AT_ONCE,
  ...table
}: ComponentProps<typeof DataTable<Row>> & { atOnce?: number }) {
  const [most, setMost] = useState(atOnce);
  return (
    <>
      <DataTable {...table} rows={rows.slice(0, most)} />
      {rows.length > most && (
        <div className="load-more">
          <p className="muted" role="status">
            {texts.common.someShown(formatCount(most))}
          </p>
          <Button onClick={() => setMost(most + atOnce)}>{texts.common.loadMore}</Button>
        </div>
      )}
    </>
  );
}
