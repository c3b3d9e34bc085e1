import { Argument, type Command, Option } from "commander";
import { Type } from "typebox";
import { type Naming, Refused } from "../../domain/refused.ts";
import type { Rows, Said } from "../../office/fields.ts";
import { readInput } from "../../office/input.ts";
import { type Cli, type Operation, perform, type Shown } from "../../office/operation.ts";
import { type Row, table } from "../../office/text.ts";
import { StoreUnavailable } from "../../store/errors.ts";
import { csvIn, pagesOf } from "../rows.ts";
import { addStoreCommand, type Session } from "./command.ts";
import { shellDesk } from "./desk.ts";
import { CommandFailed, FoundWrong, flagOf, namingOf, placeholderOf, refusalOf, withFile } from "./failures.ts";
import { fileAt, type Output, outputOptions, writeExport } from "./files.ts";
import type { Runtime } from "./runtime.ts";

type Given = Record<string, unknown>;

/** Adds the command of an operation. Each field of the input is an argument or a flag. */
export function addOperation(group: Command, runtime: Runtime, operation: Operation, cli: Cli<Given, unknown>): void {
  const { input, permission } = operation;
  const { summary = operation.summary, arguments: names = [], given: always = {}, examples, show = [] } = cli;
  const fields = Object.entries(input.properties as Record<string, Said>).filter(([field]) => !(field in always));
  const flagged = fields.filter(([field]) => !names.includes(field));
  const file = fields.find(([, { isFile }]) => isFile)?.[0];
  const plain = Type.Object(Object.fromEntries(fields.filter(([field]) => field !== file)));
  const csv = csvIn(operation.answer);
  const isNeeded = (field: string) => (input.required as readonly string[] | undefined)?.includes(field) === true;
  addStoreCommand<Given>(group, runtime, {
    name: cli.words.split(" ").at(-1) ?? "",
    description: spoken(summary),
    examples,
    arguments: names.map((field) => argumentOf(field, input.properties[field] as Said, isNeeded(field))),
    options: [
      ...flagged.map(([field, schema]) => optionOf(field, schema, isNeeded(field))),
      ...(csv === undefined ? [] : outputOptions()),
    ],
    json: csv === undefined,
    changes: permission !== "read" || csv !== undefined,
    makesDatabase: ({ preview }) => cli.makesDatabase === true && preview !== true,
    async run(session, words, flags) {
      const typed: Given = { ...flags, ...Object.fromEntries(names.map((name, at) => [name, words[at]])) };
      const given = fields.map(([field]) => [field, typed[field]]).filter(([, value]) => value !== undefined);
      const { [file ?? ""]: path, ...others } = Object.fromEntries(given) as Given;
      const work = async () => {
        const input = { ...readInput(plain, others), ...always };
        const files = file === undefined || path === undefined ? {} : { [file]: await fileAt(runtime, path as string) };
        return perform(operation, shellDesk(session), { ...input, ...files });
      };
      const done = await withFile(String(path), "be read", work).catch((error: unknown) => {
        throw failureOf(error, operation, namingOf(names));
      });
      if (typed["preview"] === true) runtime.stderr("This is a preview: nothing was changed.\n");
      if (csv === undefined) return print(session, done, show);
      return writeExport(runtime, csv.header, pagesOf(csv, done as Rows<Given>), typed as Output);
    },
  });
}

/** A description as helps print it: in lower case, without a full stop. */
const spoken = (words = "") => words.charAt(0).toLowerCase() + words.slice(1).replace(/\.$/, "");

function argumentOf(field: string, { enum: choices, description }: Said, isNeeded: boolean): Argument {
  const name = placeholderOf(field);
  const argument = new Argument(isNeeded ? `<${name}>` : `[${name}]`, spoken(description));
  return choices === undefined ? argument : argument.choices(choices);
}

/** The last word of a field; with the word before it if it says nothing alone. */
const LAST_WORDS = /[A-Z]?[^A-Z]*(?:At|Below|Than|Ups|Within)?$/;

function optionOf(field: string, { type, enum: choices, description, isFile }: Said, isNeeded: boolean): Option {
  const [kind = ""] = isFile ? ["file"] : (LAST_WORDS.exec(field) ?? []);
  const value = type === "boolean" ? "" : ` <${placeholderOf(kind)}>`;
  const option = new Option(`${flagOf(field)}${value}`, spoken(description));
  if (type === "array")
    return option
      .argParser((text: string, previous: string[] | undefined) => [...(previous ?? []), text])
      .makeOptionMandatory(isNeeded);
  if (choices !== undefined) option.choices(choices);
  return option.makeOptionMandatory(isNeeded);
}

/** Prints an answer: JSON, a table of columns, or text. */
export function print(session: Session, done: unknown, show: NonNullable<Cli<never, never>["show"]>): void {
  const { items, cursor } = (done ?? {}) as { items?: readonly Row[]; cursor?: string | null };
  const plain = (columns: readonly string[]): Shown => ({ out: table(columns, items ?? [done as Row]) });
  const {
    out,
    note = "",
    wrong,
  } = typeof show === "function" ? show(done as never, session.store.provider) : plain(show);
  if (items === undefined) session.show(done ?? null, out);
  else session.showRows(items, () => out);
  session.runtime.stderr(`${note}${cursor ? `There are more: add --cursor ${cursor}\n` : ""}`);
  if (wrong !== undefined) throw new FoundWrong(wrong);
}

function failureOf(error: unknown, { input, permission }: Operation, naming: Naming): unknown {
  if (error instanceof StoreUnavailable && permission !== "read")
    return new CommandFailed(`${error.message}. It may have been done: check with topupd audit list`);
  return error instanceof Refused ? refusalOf(error, naming, input.properties) : error;
}
