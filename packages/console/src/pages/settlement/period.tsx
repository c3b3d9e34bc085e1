import { useState } from "react";
import { Select, TextInput } from "../../components/controls.tsx";
import { Field } from "../../components/form.tsx";
import { texts } from "../../texts/index.ts";
import { OTHER_DAYS, type Period } from "./days.ts";

const t = texts.settlement;
const MONTHS = 13;

export const PERIOD_NAMES = ["period", "from", "to"] as const;

/** Form fields for a month or for days. `today`: by the provider's clock. */
export function PeriodFields({ today, chosen }: { today: string; chosen?: Period }) {
  const [period, setPeriod] = useState(chosen?.period || today.slice(0, 7));
  const options = lastMonths(today).map((month) => [month, monthName(month)] as const);
  return (
    <>
      <Field name="period" label={t.period}>
        <Select
          options={[...options, [OTHER_DAYS, t.otherDays]]}
          value={period}
          onChange={({ target }) => setPeriod(target.value)}
        />
      </Field>
      {period === OTHER_DAYS && (
        <>
          <Field name="from" label={t.from}>
            <TextInput type="date" required defaultValue={chosen?.from} />
          </Field>
          <Field name="to" label={t.to}>
            <TextInput type="date" required defaultValue={chosen?.to} />
          </Field>
        </>
      )}
    </>
  );
}

/** The last months, newest first. */
function lastMonths(today: string): string[] {
  const [year = 0, month = 0] = today.split("-").map(Number);
  return Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7),
  );
}

function monthName(month: string): string {
  const format = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
  return format.format(new Date(`${month}-01T00:00:00Z`));
}
