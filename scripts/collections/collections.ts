import { brunoCollection } from "./bruno.ts";
import { flowOf } from "./flow.ts";
import { introduce } from "./introduction.ts";
import type { OpenApi } from "./openapi.ts";
import { postmanCollection } from "./postman.ts";

/**
 * The files of the Postman and of the Bruno collection: the text of each by its path.
 * @param documents of the versions, the current one first.
 * @throws Error that says what a document lacks.
 */
export function collectionFiles(documents: readonly [OpenApi, ...OpenApi[]]): ReadonlyMap<string, string> {
  const introduction = introduce(documents[0]);
  const flows = documents.map(flowOf);
  const bruno = [...brunoCollection(introduction, flows)].map(([path, text]) => [`bruno/${path}`, text] as const);
  return new Map([["postman.json", postmanCollection(introduction, flows)], ...bruno]);
}
