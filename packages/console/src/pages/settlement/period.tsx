import { useState } from "react";
import { Select, TextInput } from "../../components/controls.tsx";
import { Field } from "../../components/form.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.settlement;
const OTHER = "days";
const MONTHS = 13;

/** What is chosen: a month such as `2026-11`, or `days` with the first and the last. */
export interface Period {
  readonly period: string;
  readonly from: string;
  readonly to: string;
}

export const PERIOD_NAMES = ["period", "from", "to"] as const;

/** Within a form: one of the last months, or days. `today` by the provider's clock. */
export function PeriodFields({ today, chosen }: { today: string; chosen?: Period }) {
  const [period, setPeriod] = useState(chosen?.period || today.slice(0, 7));
  const options = lastMonths(today).map((month) => [month, monthName(month)] as const);
  return (
    <>
      <Field name="period" label={t.period}>
        <Select
          options={[...options, [OTHER, t.otherDays]]}
          value={period}
          onChange={({ target }) => setPeriod(target.value)}
        />
      </Field>
      {period === OTHER && (
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

/** The first and the last day of a period: today's month where none is chosen, and no day to come. */
export function daysOf({ period, from, to }: Period, today: string): { readonly from: string; readonly to: string } {
  if (period === OTHER) return { from: from || today, to: to || today };
  const month = period || today.slice(0, 7);
  const last = `${month}-${String(daysIn(month)).padStart(2, "0")}`;
  return { from: `${month}-01`, to: last < today || month > today ? last : today };
}

function daysIn(month: string): number {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).getUTCDate();
}

/** Newest first. */
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
