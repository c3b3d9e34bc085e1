import { placeholderMobile } from "../../domain/customer-row.ts";
import { digitsOf, type NormaliseMobile } from "../../domain/names.ts";
import { isPlaceholder, mayBeWrittenNumber } from "../../domain/written-value.ts";
import { MOST_SAID } from "./file.ts";
import type { CustomersHooks, CustomersReport, ImportWarning, NumberedRow } from "./findings.ts";

/** The ids of a column: customer ids, or the connections of a service. */
interface Column {
  hasDigits: boolean;
  hasOthers: boolean;
  /** Ids that may be numbers that a program wrote. */
  readonly unclear: ImportWarning[];
}

/** Warns of values of a file that are probably not meant, and counts them. */
export class FileValues {
  readonly #warn: CustomersHooks["onWarning"];
  readonly #isPreview: boolean;
  readonly #readNumber: NormaliseMobile;
  readonly #columns = new Map<string, Column>();
  #placeholders = 0;
  #unreadable = 0;

  /** @param isPreview whether mobile numbers are read: it takes long, and a preview reads them anyway. */
  constructor(warn: CustomersHooks["onWarning"], isPreview: boolean, readNumber: NormaliseMobile = digitsOf) {
    this.#warn = warn;
    this.#isPreview = isPreview;
    this.#readNumber = readNumber;
  }

  take(rows: readonly NumberedRow[]): void {
    for (const { line, row, source } of rows) {
      const { cuid, firstName, lastName, mobile, connections } = row.stated;
      const warn = (problem: string) => this.#warn({ line, cuid, problem });
      const placeholder = placeholderMobile(source);
      if (placeholder !== undefined) {
        this.#placeholders += 1;
        warn(`mobile ${placeholderWords(placeholder)} is taken as none`);
      }
      for (const [field, name] of Object.entries({ first_name: firstName, last_name: lastName }))
        if (isPlaceholder(name)) warn(`${field} ${placeholderWords(name)} is kept as a name`);
      if (this.#isPreview && mobile !== undefined && this.#readNumber(mobile) === undefined) this.#unreadable += 1;
      this.#addId("cuid", cuid, { line, cuid });
      for (const { service, reqId } of connections) this.#addId(service, reqId, { line, cuid });
    }
  }

  /** Warns of what only the whole file shows. */
  report(): Pick<CustomersReport, "mobilePlaceholders" | "mobilesUnreadable"> {
    for (const { hasDigits, hasOthers, unclear } of this.#columns.values())
      if (hasDigits && !hasOthers) for (const warning of unclear) this.#warn(warning);
    return {
      mobilePlaceholders: this.#placeholders,
      ...(this.#isPreview && { mobilesUnreadable: this.#unreadable }),
    };
  }

  #addId(name: string, id: string, at: Omit<ImportWarning, "problem">): void {
    const column = this.#columns.get(name) ?? { hasDigits: false, hasOthers: false, unclear: [] };
    this.#columns.set(name, column);
    if (column.hasOthers) return;
    if (/^[0-9]+$/.test(id)) column.hasDigits = true;
    else if (!mayBeWrittenNumber(id)) column.hasOthers = true;
    else if (column.unclear.length < MOST_SAID) {
      const problem = `${name} ${id} may be a number that a program has changed: the other ids of this column are digits`;
      column.unclear.push({ ...at, problem });
    }
  }
}

function placeholderWords(value: string): string {
  return `"${value.trim()}", which programs write for no value,`;
}
