import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { usePages } from "../api/hooks.ts";
import type { CustomerMatch } from "../api/staff-api.d.ts";
import { Icon } from "../components/button.tsx";
import { useEnvironment } from "../components/environment.tsx";
import { customerHref, customersHref, transactionHref } from "../links.ts";
import { texts } from "../texts/index.ts";

const t = texts.shell;

const SUGGESTIONS = 10;

/** Delay between the last key and the request. */
const PAUSE_MS = 150;

interface Suggestion {
  readonly href: string;
  readonly title: string;
  readonly id?: string;
  readonly note?: string;
}

/** The search of the header. It suggests customers as staff type. */
export function Search() {
  const [, navigate] = useLocation();
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const { suggestions, isCurrent, isEmpty } = useSuggestions(text.trim());
  const isShown = isOpen && text.trim() !== "" && (suggestions.length > 0 || isEmpty);

  const go = (href: string) => {
    setText("");
    setOpen(false);
    field.current?.blur();
    navigate(href);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && isShown) {
      event.preventDefault();
      const count = suggestions.length + 1;
      setChosen(((chosen + 1 + step + count) % count) - 1);
    } else if (event.key === "Escape") {
      // The first Escape closes the list; the next one clears the text.
      event.preventDefault();
      if (isShown) setOpen(false);
      else setText("");
      setChosen(-1);
    }
  };
  const submit = () => {
    if (text.trim() === "") return;
    const only = isCurrent && suggestions.length === 1 ? suggestions[0] : undefined;
    const suggestion = isShown ? (suggestions[chosen] ?? only) : only;
    go(suggestion?.href ?? customersHref(text.trim()));
  };

  return (
    <search className="top-search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          role="combobox"
          className="control"
          aria-label={t.search}
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={list}
          aria-activedescendant={isShown && chosen >= 0 ? `${list}-${chosen}` : undefined}
          placeholder={t.search}
          title={t.searchHint}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setChosen(-1);
            setOpen(true);
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={press}
        />
        <kbd>/</kbd>
        <div className="menu suggestions" hidden={!isShown}>
          <div id={list} role="listbox" aria-label={t.suggestions}>
            {suggestions.map((suggestion, index) => (
              <Option
                key={suggestion.href}
                id={`${list}-${index}`}
                suggestion={suggestion}
                isChosen={index === chosen}
                onChoose={() => go(suggestion.href)}
              />
            ))}
          </div>
          <p className="menu-label" role="status">
            {isEmpty ? t.noSuggestion : t.allMatches}
          </p>
        </div>
      </form>
    </search>
  );
}

interface OptionProps {
  readonly id: string;
  readonly suggestion: Suggestion;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Option({ id, suggestion: { title, id: cuid, note }, isChosen, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the field names the chosen option
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      className="menu-item"
      // A press must not take the focus from the field: that would close the list before the click.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <span>
        {title} <span className="muted number">{cuid}</span>
      </span>
      <span className="muted number">{note}</span>
    </div>
  );
}

function useSuggestions(text: string) {
  const environment = useEnvironment();
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const input = asked === "" ? null : { environment, q: asked, limit: SUGGESTIONS };
  const found = usePages("GET /customers", input);
  const { transactions = [], items = [] } = found.first ?? {};
  const owners = new Set(transactions.map(({ cuid }) => cuid));
  const suggestions: Suggestion[] = [
    ...transactions.map((each) => {
      const [title, id] = [t.transaction, each.txnId];
      return { href: transactionHref(each), title, id, ...(each.udf1 !== null && { note: each.udf1 }) };
    }),
    // A customer who was found only by a top-up is not suggested beside it.
    ...items.filter(({ code, cuid }) => code !== null || !owners.has(cuid)).map(suggestionOf),
  ];
  const isCurrent = asked === text && !found.isKept && found.first !== undefined;
  return { suggestions: text === "" ? [] : suggestions, isCurrent, isEmpty: isCurrent && suggestions.length === 0 };
}

function suggestionOf(match: CustomerMatch): Suggestion {
  const { cuid, firstName, lastName, code, connections } = match;
  const lasting = connections.filter(({ end }) => end !== null).sort(byEnd);
  const { end = null, ended = false } =
    lasting.find(({ reqId }) => reqId === code) ?? lasting.find((each) => !each.ended) ?? lasting.at(-1) ?? {};
  const fitting = code === null || code === cuid ? [] : [code];
  const ending = end === null ? [] : [ended ? t.ended(end.slice(0, 10)) : t.ends(end.slice(0, 10))];
  const title = `${firstName} ${lastName}`.trim() || "–";
  return { href: customerHref(match), title, id: cuid, note: [...fitting, ...ending].join(" · ") };
}

function byEnd({ end: a }: { end: string | null }, { end: b }: { end: string | null }): number {
  return (a ?? "") < (b ?? "") ? -1 : 1;
}
