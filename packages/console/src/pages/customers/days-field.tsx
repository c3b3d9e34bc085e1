import { Button } from "../../components/button.tsx";
import { TextInput } from "../../components/controls.tsx";
import { Field } from "../../components/form.tsx";
import { countOf } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.customers;

const QUICK = [1, 3, 7];
const MOST_DAYS = 366;

interface DaysFieldProps {
  readonly days: string;
  readonly onChange: (days: string) => void;
}

/** Days of goodwill, and buttons for the usual ones. */
export function DaysField({ days, onChange }: DaysFieldProps) {
  return (
    <div className="stack">
      <Field name="days" label={t.days} hint={t.daysHint}>
        <TextInput
          required
          type="number"
          min={1}
          max={MOST_DAYS}
          value={days}
          onChange={({ target }) => onChange(target.value)}
        />
      </Field>
      <div className="row">
        {QUICK.map((each) => (
          <Button key={each} aria-pressed={days === String(each)} onClick={() => onChange(String(each))}>
            {countOf(each, "day")}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** Number of days; undefined if it is not allowed. */
export function readDays(days: string): number | undefined {
  const count = /^\d{1,3}$/.test(days) ? Number(days) : 0;
  return count >= 1 && count <= MOST_DAYS ? count : undefined;
}
