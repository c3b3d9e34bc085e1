import {
  type InputHTMLAttributes,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { useSearchParams } from "wouter";
import { useApi } from "../api/hooks.ts";
import { useMe } from "../api/session.tsx";
import { texts } from "../texts/index.ts";
import { Button } from "./button.tsx";
import { DAY_INPUT, type Options } from "./controls.tsx";

const t = texts.common;

/** Delay between the last key and the request. */
const PAUSE_MS = 300;

/** Values in the page's address, "" if absent. Setting some of them keeps the others. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const [search, setSearch] = useSearchParams();
  const text = names.map((name) => search.get(name) ?? "").join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text contains all values
  const values = useMemo(() => mapNames(names, (name) => search.get(name) ?? ""), [text]);
  const setValues = useCallback(
    (next: Partial<Record<Name, string>>) =>
      setSearch(
        (now) => {
          const changed = new URLSearchParams(now);
          for (const [name, value] of Object.entries<string | undefined>(next)) {
            if (value) changed.set(name, value);
            else changed.delete(name);
          }
          return changed;
        },
        { replace: true },
      ),
    [setSearch],
  );
  return [values, setValues] as const;
}

/** One filter of a list. */
export interface Filter {
  readonly label: string;
  /** Example of a text. */
  readonly hint?: string;
  /** Choices besides "Any". A filter without options is a text. */
  readonly options?: Options;
  /** Whether the filter is hidden until staff ask for more filters. */
  readonly isRare?: boolean;
}

/** Names of a period in the address and in the API. */
export const PERIOD_NAMES = ["from", "to"] as const;

interface FilterBarProps {
  readonly filters: Readonly<Record<string, Filter>>;
  /** Whether the list can be limited to days. */
  readonly hasPeriod?: boolean;
  /** The problem of a value, by the name of its filter. */
  readonly problemOf?: (name: string) => string | undefined;
}

/** The filters of a list in one line. They apply as they change, and the address keeps them. */
export function FilterBar({ filters, hasPeriod = false, problemOf = () => undefined }: FilterBarProps) {
  const names = [...(hasPeriod ? PERIOD_NAMES : []), ...Object.keys(filters)];
  const [values, setValues] = useFilters(names);
  const rare = Object.keys(filters).filter((name) => filters[name]?.isRare);
  const [showsAll, setShowsAll] = useState(rare.some((name) => values[name] !== ""));
  const set = useCallback((next: Record<string, string>) => setValues({ ...next, ...FIRST_PAGE }), [setValues]);
  const problems = names.flatMap((name) => {
    const problem = problemOf(name);
    return problem === undefined ? [] : [`${filters[name]?.label ?? t[name as "from" | "to"]}: ${problem}`];
  });
  return (
    <search className="filters">
      {hasPeriod && <PeriodFilter days={values as unknown as Days} onApply={set} />}
      {Object.entries(filters).map(([name, filter]) => {
        if (filter.isRare && !showsAll) return null;
        const { label, hint, options } = filter;
        const shared = { name, label, value: values[name] ?? "", onApply: set };
        if (options === undefined) return <TextFilter key={name} {...shared} placeholder={hint ?? t.any} />;
        return <SelectFilter key={name} {...shared} any={t.any} options={options} />;
      })}
      {rare.length > 0 && !showsAll && (
        <Button kind="quiet" onClick={() => setShowsAll(true)}>
          {t.moreFilters}
        </Button>
      )}
      {names.some((name) => values[name] !== "") && (
        <Button kind="quiet" onClick={() => set(mapNames(names, () => ""))}>
          {t.clear}
        </Button>
      )}
      {problems.length > 0 && (
        <p className="field-error" role="alert">
          {problems.join(" ")}
        </p>
      )}
    </search>
  );
}

/** Other filters make another list, which begins at its first page. */
const FIRST_PAGE = { pages: "" };

interface ControlProps {
  /** Name of the value in the address. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Must be the same function in every render. */
  readonly onApply: (next: Record<string, string>) => void;
}

interface SelectFilterProps extends ControlProps {
  readonly options: Options;
  /** Label of the empty choice. */
  readonly any?: string;
}

export function SelectFilter({ name, label, value, onApply, options, any }: SelectFilterProps) {
  return (
    <Chip label={label} isUsed={any !== undefined && value !== ""}>
      {(id) => (
        <select id={id} value={value} onChange={({ target }) => onApply({ [name]: target.value })}>
          {any !== undefined && <option value="">{any}</option>}
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Chip>
  );
}

interface TextFilterProps extends ControlProps, Omit<InputHTMLAttributes<HTMLInputElement>, keyof ControlProps> {
  /** Whether a text can be applied while it is typed. */
  readonly isComplete?: (text: string) => boolean;
}

/** A text that applies shortly after the last key. */
export function TextFilter({ name, label, value, onApply, isComplete = isAny, ...rest }: TextFilterProps) {
  const [text, setText] = useState(value);
  const applied = useRef(value);
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    const next = text.trim();
    if (next === applied.current || !isComplete(next)) return;
    const timer = setTimeout(() => {
      applied.current = next;
      onApply({ [name]: next });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, name, onApply, isComplete]);
  return (
    <Chip label={label} isUsed={value !== ""}>
      {(id) => (
        <input
          maxLength={200}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          size={Math.max(10, rest.placeholder?.length ?? 0)}
          {...rest}
          id={id}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
    </Chip>
  );
}

/** A day as YYYY-MM-DD. */
export function DayFilter(props: ControlProps) {
  return <TextFilter {...props} {...DAY_INPUT} isComplete={isDay} />;
}

const isAny = () => true;
const isDay = (text: string) => text === "" || /^\d{4}-\d{2}-\d{2}$/.test(text);

const OTHER = "days";
const NO_DAYS = { from: "", to: "" };
type Days = typeof NO_DAYS;

/** A preset period, or its first and last day. */
function PeriodFilter({ days, onApply }: { days: Days; onApply: ControlProps["onApply"] }) {
  const { presets } = useMe().provider.calendar;
  const names = Object.keys(presets) as (keyof typeof presets)[];
  const preset = names.find((name) => presets[name].from === days.from && presets[name].to === days.to);
  const isSet = days.from !== "" || days.to !== "";
  const [choosesDays, setChoosesDays] = useState(false);
  const showsDays = choosesDays || (isSet && preset === undefined);
  const choose = ({ period = "" }: Record<string, string>) => {
    setChoosesDays(period === OTHER);
    if (period !== OTHER) onApply(period === "" ? NO_DAYS : presets[period as (typeof names)[number]]);
  };
  return (
    <>
      <SelectFilter
        name="period"
        label={t.period}
        value={showsDays ? OTHER : (preset ?? "")}
        any={t.anyTime}
        options={[...names.map((name) => [name, t.presets[name]] as const), [OTHER, t.otherDays]]}
        onApply={choose}
      />
      {showsDays && <DayFilter name="from" label={t.from} value={days.from} onApply={onApply} />}
      {showsDays && <DayFilter name="to" label={t.to} value={days.to} onApply={onApply} />}
    </>
  );
}

/** A control with its label in front, in one line. */
function Chip({ label, isUsed, children }: { label: string; isUsed: boolean; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <span className={isUsed ? "filter filter-used" : "filter"}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </span>
  );
}

/** All partners as options. `chosen` is an option even before they are loaded. */
export function usePartnerOptions(chosen = ""): Options {
  const { data } = useApi("GET /partners");
  const names = data?.items.map(({ name }) => name) ?? (chosen === "" ? [] : [chosen]);
  return names.map((name) => [name, name] as const);
}

function mapNames<Name extends string>(names: readonly Name[], textOf: (name: Name) => string) {
  return Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<Name, string>;
}
