import { type ReactNode, useCallback, useMemo } from "react";
import { useSearch, useSearchParams } from "wouter";
import { useApi } from "../api/hooks.ts";
import { texts } from "../texts/index.ts";
import { Button } from "./button.tsx";
import { type Options, Select, TextInput } from "./controls.tsx";
import { Field, Form } from "./form.tsx";

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
  readonly hint?: string;
  readonly type?: "date";
  /** Choices besides "Any". A filter without options is a text. */
  readonly options?: Options;
  /** Whether the filter is folded until it is used. */
  readonly isRare?: boolean;
}

interface FilterBarProps<Name extends string> {
  readonly filters: Readonly<Record<Name, Filter>>;
  /** The problem of a value, by the name of its filter. */
  readonly problemOf?: (name: Name) => string | undefined;
}

/** The filters of a list. Their values go into the address when staff apply them. */
export function FilterBar<Name extends string>({ filters, problemOf }: FilterBarProps<Name>) {
  const names = Object.keys(filters) as Name[];
  const [values] = useFilters(names);
  const field = (name: Name) => {
    const { label, hint, type, options } = filters[name];
    return (
      <Field key={name} name={name} label={label} hint={hint} error={problemOf?.(name)}>
        {options === undefined ? (
          <TextInput type={type ?? "text"} autoCapitalize="none" defaultValue={values[name]} maxLength={200} />
        ) : (
          // Options can arrive after the page: a new key selects the value again.
          <Select key={options.length} any={texts.common.any} options={options} defaultValue={values[name]} />
        )}
      </Field>
    );
  };
  const rare = names.filter((name) => filters[name].isRare);
  return (
    <Filters names={names}>
      {names.filter((name) => !filters[name].isRare).map(field)}
      {rare.length > 0 && (
        <details className="filters-more" open={rare.some((name) => values[name] !== "")}>
          <summary>{texts.common.moreFilters}</summary>
          <div className="row">{rare.map(field)}</div>
        </details>
      )}
    </Filters>
  );
}

interface FiltersProps<Name extends string> {
  readonly names: readonly Name[];
  /** Fields of these names, whose controls have `defaultValue={values.NAME}` from useFilters. */
  readonly children: ReactNode;
}

/** A row of fields whose values go into the address when staff apply them. */
export function Filters<Name extends string>({ names, children }: FiltersProps<Name>) {
  const [values, setValues] = useFilters(names);
  const search = useSearch();
  const clear = (
    <Button kind="quiet" onClick={() => setValues(mapNames(names, () => ""))}>
      {texts.common.clear}
    </Button>
  );
  return (
    <search className="filters">
      <Form
        key={search}
        inline
        submit={texts.common.apply}
        actions={names.some((name) => values[name] !== "") && clear}
        onSubmit={async (entered) => setValues(mapNames(names, (name) => entered.text(name)))}
      >
        {children}
      </Form>
    </search>
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
