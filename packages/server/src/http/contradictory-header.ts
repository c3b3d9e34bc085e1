import type { IncomingMessage } from "node:http";

/**
 * Whether a header that says one thing stands there with two values. Node keeps the first line of such a header and
 * passes over the others, and a proxy in front may have judged by another one.
 */
export function isContradictory(
  { headers, rawHeaders }: IncomingMessage,
  name: "authorization" | "content-type",
): boolean {
  const kept = headers[name];
  // Names and values by turns. For every request, so that what is of another length is not looked at.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index] as string;
    if (each.length === name.length && each.toLowerCase() === name && rawHeaders[index + 1] !== kept) return true;
  }
  return false;
}
