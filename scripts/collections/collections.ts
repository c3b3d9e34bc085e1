import { brunoCollection } from "./bruno.ts";
import { flowOf } from "./flow.ts";
import { introduce } from "./introduction.ts";
import type { OpenApi } from "./openapi.ts";
import { postmanCollection } from "./postman.ts";

/**
 * The files of the Postman and of the Bruno collection of a version: the text of each by its path.
 * @throws Error that says what the document lacks.
 */
export function collectionFiles(document: OpenApi): ReadonlyMap<string, string> {
  const [introduction, flow] = [introduce(document), flowOf(document)];
  const files = [
    ["postman.json", postmanCollection(introduction, flow)] as const,
    ...[...brunoCollection(introduction, flow)].map(([path, text]) => [`bruno/${path}`, text] as const),
  ];
  return new Map(files.map(([path, text]) => [`v${document.info.version}/${path}`, text]));
}
