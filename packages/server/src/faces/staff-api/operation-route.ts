import { type TSchema, Type } from "typebox";
import { csvText } from "../../csv/writing.ts";
import type { CsvOf, Rows, Said } from "../../office/fields.ts";
import { type Operation, perform } from "../../office/operation.ts";
import { csvIn, pagesOf } from "../rows.ts";
import { serviceDesk } from "./ports.ts";
import { type Route, route } from "./route.ts";

/** Fields that are in the query of every request. */
const IN_QUERY: readonly string[] = ["environment", "preview"];
const FILE_NAME = Type.Optional(
  Type.String({ maxLength: 200, description: "Name of the file; CSV if it ends in .csv." }),
);

/** Makes the route of an operation. The path has the fields that it names; all other fields of a GET are in the query. */
export function routeOf(operation: Operation): Route {
  const { http = "", input, answer, refuses: problems = [], run: _run, cli: _cli, ...rest } = operation;
  const [method, path] = http.split(" ") as [Route["method"], string];
  const fields = Object.entries(input.properties);
  const [file] = fields.find(([, schema]) => (schema as Said).isFile) ?? [];
  const placeOf = (name: string) => {
    if (path.split("/").includes(`:${name}`)) return "path";
    if (name === file) return "file";
    return method === "GET" || file !== undefined || IN_QUERY.includes(name) ? "query" : "body";
  };
  const part = (place: string, more: Record<string, TSchema> = {}) => {
    const own = { ...Object.fromEntries(fields.filter(([name]) => placeOf(name) === place)), ...more };
    return Object.keys(own).length === 0 ? undefined : Type.Object(own);
  };
  const [params, body] = [part("path"), file === undefined ? part("body") : "file"];
  const query = part("query", file === undefined ? {} : { name: FILE_NAME });
  const csv = csvIn(answer);
  return route({
    ...rest,
    method,
    path,
    problems,
    ...(params && { params }),
    ...(query && { query }),
    ...(body && { body }),
    ...(answer && { answer: csv === undefined ? answer : "csv" }),
    async handle(ports, request) {
      const sent = file === undefined ? (request.body as object | undefined) : { [file]: request.body };
      const input = { ...request.params, ...request.query, ...sent };
      const done = await perform(operation, serviceDesk(ports, request.identity), input);
      if (csv === undefined) return done;
      return {
        fileName: path.slice(path.lastIndexOf("/") + 1),
        pieces: csvPieces(csv, done as Rows<Record<string, unknown>>),
      };
    },
  });
}

async function* csvPieces(
  csv: CsvOf<Record<string, unknown>>,
  done: Rows<Record<string, unknown>>,
): AsyncGenerator<string> {
  yield csvText([csv.header]);
  for await (const page of pagesOf(csv, done)) yield csvText(page.csv());
}
