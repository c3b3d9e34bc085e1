import { useState } from "react";
import { useMe } from "../../api/session.tsx";
import { DayInput, type Options, Select } from "../../components/controls.tsx";
import { DayFilter, SelectFilter } from "../../components/filters.tsx";
import { Field } from "../../components/form.tsx";
import { monthName } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.settlement;

/** Value of `period` if days are chosen instead of a month. */
export const OTHER_DAYS = "days";

/** A month such as `2026-11`, or `days` with the first and last day; "" is this month. */
interface Period {
  readonly period: string;
  readonly from: string;
  readonly to: string;
}

/** The period as input: the server knows this month, and the last day of each. */
export function periodInput({ period, from, to }: Period): { readonly from?: string; readonly to?: string } {
  if (period !== OTHER_DAYS) return period === "" ? {} : { from: `${period}-01` };
  return { ...(from !== "" && { from }), ...(to !== "" && { to }) };
}

export const PERIOD_NAMES = ["period", "from", "to"] as const;

interface PeriodFiltersProps {
  readonly chosen: Period;
  readonly onApply: (next: Partial<Period>) => void;
}

/** Filters for a month or for days. */
export function PeriodFilters({ chosen, onApply }: PeriodFiltersProps) {
  const { months } = useMe().provider.calendar;
  return (
    <>
      <SelectFilter
        onApply={onApply}
        name="period"
        label={t.period}
        value={chosen.period || (months[0] ?? "")}
        options={periodOptions(months)}
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

/** Form fields for a month or for days. */
export function PeriodFields() {
  const { months } = useMe().provider.calendar;
  const [period, setPeriod] = useState(months[0] ?? "");
  return (
    <>
      <Field name="period" label={t.period}>
        <Select options={periodOptions(months)} value={period} onChange={({ target }) => setPeriod(target.value)} />
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

function periodOptions(months: readonly string[]): Options {
  return [...months.map((month) => [month, monthName(month)] as const), [OTHER_DAYS, t.otherDays]];
}
