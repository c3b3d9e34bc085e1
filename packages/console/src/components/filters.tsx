import { type ReactNode, useCallback, useMemo } from "react";
import { useSearch, useSearchParams } from "wouter";
import { texts } from "../texts/index.ts";
import { Button } from "./button.tsx";
import { Form } from "./form.tsx";

/** Values in the page's address: those named, "" if absent. Setting some keeps the others. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const [search, setSearch] = useSearchParams();
  const text = names.map((name) => search.get(name) ?? "").join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is of all that counts
  const values = useMemo(
    () => Object.fromEntries(names.map((name) => [name, search.get(name) ?? ""])) as Record<Name, string>,
    [text],
  );
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

interface FiltersProps<Name extends string> {
  readonly names: readonly Name[];
  /** Fields of these names, whose controls have `defaultValue={values.NAME}` from useFilters. */
  readonly children: ReactNode;
}

/** A row of fields whose values go into the address when they are applied. */
export function Filters<Name extends string>({ names, children }: FiltersProps<Name>) {
  const [values, setValues] = useFilters(names);
  const search = useSearch();
  const isSet = names.some((name) => values[name] !== "");
  const clear = () => setValues(Object.fromEntries(names.map((name) => [name, ""])) as Record<Name, string>);
  return (
    <search className="filters">
      <Form
        key={search}
        inline
        submit={texts.common.apply}
        actions={
          isSet && (
            <Button kind="quiet" onClick={clear}>
              {texts.common.clear}
            </Button>
          )
        }
        onSubmit={async (entered) =>
          setValues(Object.fromEntries(names.map((name) => [name, entered.text(name)])) as Record<Name, string>)
        }
      >
        {children}
      </Form>
    </search>
  );
}

/** Fields that few need: folded, unless one of them is set. */
export function MoreFilters({ isSet, children }: { isSet: boolean; children: ReactNode }) {
  return (
    <details className="filters-more" open={isSet}>
      <summary>{texts.common.moreFilters}</summary>
      <div>{children}</div>
    </details>
  );
}
