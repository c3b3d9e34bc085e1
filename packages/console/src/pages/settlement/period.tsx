import { useState } from "react";
import { DayInput, type Options, Select } from "../../components/controls.tsx";
import { DayFilter, SelectFilter } from "../../components/filters.tsx";
import { Field } from "../../components/form.tsx";
import { texts } from "../../texts/index.ts";
import { OTHER_DAYS, type Period } from "./days.ts";

const t = texts.settlement;
const MONTHS = 13;

export const PERIOD_NAMES = ["period", "from", "to"] as const;

interface PeriodFiltersProps {
  readonly today: string;
  readonly chosen: Period;
  readonly onApply: (next: Partial<Period>) => void;
}

/** Filters for a month or for days. `today`: by the provider's clock. */
export function PeriodFilters({ today, chosen, onApply }: PeriodFiltersProps) {
  return (
    <>
      <SelectFilter
        onApply={onApply}
        name="period"
        label={t.period}
        value={chosen.period || today.slice(0, 7)}
        options={periodOptions(today)}
      />
      {chosen.period === OTHER_DAYS && (
        <>
          <DayFilter onApply={onApply} name="from" label={t.from} value={chosen.from} />
          <DayFilter onApply={onApply} name="to" label={t.to} value={chosen.to} />
        </>
      )}
    </>
  );
}

/** Form fields for a month or for days. `today`: by the provider's clock. */
export function PeriodFields({ today }: { today: string }) {
  const [period, setPeriod] = useState(today.slice(0, 7));
  return (
    <>
      <Field name="period" label={t.period}>
        <Select options={periodOptions(today)} value={period} onChange={({ target }) => setPeriod(target.value)} />
      </Field>
      {period === OTHER_DAYS && (
        <>
          <Field name="from" label={t.from}>
            <DayInput required />
          </Field>
          <Field name="to" label={t.to}>
            <DayInput required />
          </Field>
        </>
      )}
    </>
  );
}

function periodOptions(today: string): Options {
  return [...lastMonths(today).map((month) => [month, monthName(month)] as const), [OTHER_DAYS, t.otherDays]];
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
