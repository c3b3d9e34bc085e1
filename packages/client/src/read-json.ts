export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON string, or a number with more digits than a double surely carries. */
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9](?=(?:[.eE+-]*[0-9]){15})[0-9.eE+-]*/g;

/**
 * Parses JSON. A number of more than fifteen digits becomes a string, because as a number it could silently change.
 *
 * @throws SyntaxError
 */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const exact = text.replace(STRING_OR_LONG_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`));
  return exact === text ? value : JSON.parse(exact);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object's own field, never one of its prototype. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
