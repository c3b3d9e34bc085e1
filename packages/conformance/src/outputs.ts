import { resolve } from "node:path";
import { WrongOption } from "./options.ts";
import { renderJunit } from "./render/junit.ts";
import { renderTable } from "./render/table.ts";
import type { Report } from "./report.ts";

interface Destinations {
  readonly json?: string;
  readonly junit?: string;
}

interface Outside {
  readonly stdout: (text: string) => void;
  /** Returns a function that writes the file. Both throw if that is not possible. */
  readonly openFile: (path: string) => (text: string) => void;
}

/** One form of the report and its destination. */
interface Output {
  readonly name: string;
  readonly write: (text: string) => void;
  readonly render: (report: Report) => string;
}

const STDOUT = "-";
const renderJson = (report: Report) => `${JSON.stringify(report, null, 2)}\n`;

/** @throws WrongOption if two reports have the same destination */
export function checkDestinations({ json, junit }: Destinations): void {
  if (json === undefined || junit === undefined) return;
  if (json === STDOUT && junit === STDOUT) throw new WrongOption("only one of --json and --junit can go to -");
  const isOne = json !== STDOUT && junit !== STDOUT && resolve(json) === resolve(junit);
  if (isOne) throw new WrongOption("--json and --junit need a file each");
}

/**
 * Opens the destinations before anything is bought, so that the report of a purchase can be written. A report on stdout
 * replaces the table.
 *
 * @throws WrongOption if a file cannot be written
 */
export function openOutputs({ json, junit }: Destinations, { stdout, openFile }: Outside): readonly Output[] {
  const open = (destination: string | undefined, render: Output["render"]): Output[] => {
    if (destination === undefined) return [];
    if (destination === STDOUT) return [{ name: "stdout", write: stdout, render }];
    return [{ name: destination, write: onFile(destination, () => openFile(destination)), render }];
  };
  const reports = [...open(json, renderJson), ...open(junit, renderJunit)];
  if (json === STDOUT || junit === STDOUT) return reports;
  return [{ name: "stdout", write: stdout, render: renderTable }, ...reports];
}

/**
 * Writes the report to all destinations, even if one fails: it may have cost money.
 *
 * @throws WrongOption if a file could not be written, after all others are written
 */
export function writeOutputs(report: Report, outputs: readonly Output[]): void {
  const errors: unknown[] = [];
  for (const { name, write, render } of outputs) {
    try {
      const text = render(report);
      onFile(name, () => write(text));
    } catch (error) {
      errors.push(error);
    }
  }
  const broken = errors.find((error) => !(error instanceof WrongOption));
  if (broken !== undefined) throw broken;
  if (errors.length > 0) throw new WrongOption(errors.map((error) => (error as WrongOption).message).join("; "));
}

/** @param name the file's name to show. @throws WrongOption instead of the system's error */
export function onFile<Value>(name: string, act: () => Value): Value {
  try {
    return act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new WrongOption(`${name}: ${code}; give another file`);
  }
}
