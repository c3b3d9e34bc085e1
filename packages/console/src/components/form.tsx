import { createContext, type ReactNode, type SubmitEvent, useContext, useEffect, useId, useRef, useState } from "react";
import { ApiProblem } from "../api/problem.ts";
import { Button } from "./button.tsx";
import { ErrorNote } from "./states.tsx";

/** The values of a form. */
export class FormValues {
  readonly #data: FormData;

  constructor(data: FormData) {
    this.#data = data;
  }

  /** Trimmed text of a field. */
  text(name: string): string {
    const value = this.#data.get(name);
    return typeof value === "string" ? value.trim() : "";
  }

  /** Trimmed text; undefined if it is empty. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** Untrimmed text, for passwords. */
  raw(name: string): string {
    const value = this.#data.get(name);
    return typeof value === "string" ? value : "";
  }

  number(name: string): number {
    return Number(this.text(name));
  }

  checked(name: string): boolean {
    return this.#data.has(name);
  }

  /** Chosen file; undefined if there is none. */
  file(name: string): File | undefined {
    const value = this.#data.get(name);
    return value instanceof File && value.size > 0 ? value : undefined;
  }
}

interface FormState {
  readonly busy: boolean;
  readonly errorOf: (name: string) => string | undefined;
  readonly register: (name: string) => () => void;
}

const FormContext = createContext<FormState>({ busy: false, errorOf: () => undefined, register: () => () => {} });

interface FormProps {
  /** Sends the form. Problems are shown at their fields, other errors above the buttons. */
  readonly onSubmit: (values: FormValues) => Promise<unknown>;
  /** Label of the button. */
  readonly submit: string;
  readonly danger?: boolean;
  /** Why the form cannot be sent, shown beside the button; undefined if it can. */
  readonly why?: string | undefined;
  /** Content beside the button. */
  readonly actions?: ReactNode;
  readonly onChange?: (values: FormValues) => void;
  readonly children: ReactNode;
}

export function Form({ onSubmit, submit, danger = false, why, children, ...rest }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const names = useRef(new Set<string>());
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const fields = failure instanceof ApiProblem ? (failure.problem.fields ?? []) : [];
  const atFields = fields.filter(({ field }) => names.current.has(field));

  useEffect(() => {
    if (failure !== undefined) form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]")?.focus();
  }, [failure]);

  const send = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    // React passes the event of a dialog's form on to the form that opened the dialog.
    event.stopPropagation();
    if (busy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await onSubmit(new FormValues(new FormData(event.currentTarget)));
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };

  const state: FormState = {
    busy,
    errorOf: (name) => atFields.find(({ field }) => field === name)?.problem,
    register: (name) => {
      names.current.add(name);
      return () => names.current.delete(name);
    },
  };
  const { onChange } = rest;
  return (
    <FormContext value={state}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => void send(event)}
        onChange={onChange && ((event) => onChange(new FormValues(new FormData(event.currentTarget))))}
      >
        {children}
        {failure !== undefined && atFields.length < Math.max(fields.length, 1) && (
          <ErrorNote error={failure} ofChange except={atFields.map(({ field }) => field)} />
        )}
        <div className="row">
          <Button type="submit" kind={danger ? "danger" : "primary"} busy={busy} why={why}>
            {submit}
          </Button>
          {rest.actions}
          {why !== undefined && (
            <span className="muted" role="status">
              {why}
            </span>
          )}
        </div>
      </form>
    </FormContext>
  );
}

/** Properties that a Field passes to its control. */
interface FieldIds {
  readonly name: string;
  readonly id: string;
  readonly invalid: boolean;
  readonly describedBy: string | undefined;
}

const FieldContext = createContext<FieldIds | undefined>(undefined);

interface FieldProps {
  /** Name of the value in FormValues and in a refusal. */
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}

/** A label, a hint and a problem around one control. */
export function Field({ name, label, hint, error, children }: FieldProps) {
  const id = useId();
  const { errorOf, register } = useContext(FormContext);
  const wrong = error ?? errorOf(name);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every register of a form has the same effect
  useEffect(() => register(name), [name]);
  const describedBy = [hint !== undefined && `${id}-hint`, wrong !== undefined && `${id}-error`].filter(Boolean);
  return (
    <FieldContext value={{ name, id, invalid: wrong !== undefined, describedBy: describedBy.join(" ") || undefined }}>
      <div className="field stack">
        <label htmlFor={id} className="field-label">
          {label}
        </label>
        {children}
        {hint !== undefined && (
          <p id={`${id}-hint`} className="field-hint">
            {hint}
          </p>
        )}
        {wrong !== undefined && (
          <p id={`${id}-error`} className="field-error">
            {wrong}
          </p>
        )}
      </div>
    </FieldContext>
  );
}

/** Attributes that a control within a Field spreads onto its element. */
export function useField() {
  const field = useContext(FieldContext);
  if (field === undefined) throw new Error("a control needs a Field");
  return {
    id: field.id,
    name: field.name,
    "aria-invalid": field.invalid || undefined,
    "aria-describedby": field.describedBy,
  };
}
