import { type Check, finds } from "./checks.ts";
import { quote } from "./dialect.ts";
import { answerOf, fieldOf, type OpenApi, type Operation, pathTo, requestOf, resolve } from "./openapi.ts";

/*
 * What one request hands on to the next. Where it stands in an answer differs between the versions: the documents say.
 */

/** Takes the customer and a connection of the service out of the look-up. */
export function takeConnection(document: OpenApi, lookUp: Operation): Check {
  const answer = answerOf(document, lookUp);
  const cuid = pathTo(document, answer, (name) => name === "cuid");
  const connections = pathTo(document, answer, (_, schema) => schema.$ref?.endsWith("/Connections") === true);
  const lists = fieldOf(document, answer, ...connections).properties ?? {};
  const reqIds = Object.fromEntries(
    Object.entries(lists).map(([service, list]) => [service, reqIdOf(resolve(document, list.items ?? {}).required)]),
  );
  return finds("has a connection of the service", (say) => [
    `const service = ${say.setting("service")};`,
    `const [connection] = ${connections.join(".")}[service] ?? [];`,
    `${say.expect}(connection, \`customer has no connection of service \${service}\`).to.be.an("object");`,
    `const reqId = ${quote(reqIds)}[service];`,
    `${say.set("cuid", cuid.join("."))};`,
    `${say.set("reqId", "connection[reqId]")};`,
  ]);
}

/** The field of a connection with its reqId: the one that is not its status. */
function reqIdOf(fields: readonly string[] = []): string {
  const [reqId, ...others] = fields.filter((name) => name !== "status");
  if (reqId === undefined || others.length > 0) throw new Error("a connection has not one field beside its status");
  return reqId;
}

/** Takes the checkoutId and the first bouquet with its price out of the listing. */
export function takeBouquet(document: OpenApi, listing: Operation): Check {
  const answer = answerOf(document, listing);
  const checkoutId = pathTo(document, answer, (name) => name === "checkoutId");
  // Every service lists its bouquets alike: the first field that has some will do.
  const [, , bouquets] = pathTo(document, answer, (name) => name === "bouquets") as [string, string, string];
  const service = pathTo(document, answer, (name) => name === bouquets);
  const bouquet = resolve(document, fieldOf(document, answer, ...service).items ?? {});
  const price = Object.entries(bouquet.properties ?? {}).find(([, { type }]) => type === "number")?.[0];
  if (price === undefined) throw new Error("a bouquet has no price");
  return finds("has a checkoutId and a bouquet to buy", (say) => [
    `const service = ${say.setting("service")};`,
    `const [bouquet] = body[service].${bouquets};`,
    `${say.expect}(bouquet, "nothing can be bought for this connection").to.be.an("object");`,
    `${say.set("checkoutId", checkoutId.join("."))};`,
    `${say.set("bouquetId", "bouquet.code")};`,
    `${say.set("amt", `String(bouquet.${price})`)};`,
  ]);
}

/** Compares the result with the request, and keeps the txnId. */
export function takeResult(document: OpenApi, topUp: Operation, settings: readonly string[]): Check {
  const { required = [], properties = {} } = fieldOf(document, answerOf(document, topUp), "body", "result");
  const sent = (requestOf(document, topUp).required ?? []).filter((name) => required.includes(name));
  return finds("gives the top-up that was asked for", (say) => [
    "const { result } = body;",
    `${say.expect}(result).to.include.all.keys(${quote(required)});`,
    `${say.expect}(result.orderId).to.equal(${say.get("checkoutId")});`,
    ...sent.map((name) => {
      // Variables are texts, and an amount is a number in an answer.
      const got = properties[name]?.type === "number" ? `String(result.${name})` : `result.${name}`;
      return `${say.expect}(${got}).to.equal(${settings.includes(name) ? say.setting(name) : say.get(name)});`;
    }),
    `${say.set("txnId", "result.txnId")};`,
  ]);
}

/** Holds a later result against the txnId that was kept. */
export function sameResult(title: string): Check {
  return finds(title, (say) => [
    `${say.expect}(body.result.txnId).to.equal(${say.get("txnId")});`,
    `${say.expect}(body.result.orderId).to.equal(${say.get("checkoutId")});`,
  ]);
}

/** Whether the answer is marked as that of an earlier request. */
export function replayed(document: OpenApi, topUp: Operation, isReplay: boolean): Check {
  const header = "idempotent-replayed";
  if (topUp.responses["200"]?.headers[header] === undefined)
    throw new Error(`v${document.info.version} does not mark replays`);
  return isReplay
    ? finds("is marked as a replay", (say) => [`${say.expect}(${say.header(header)}).to.equal("true");`])
    : finds("is made by this request, and not a replay", (say) => [
        `${say.expect}(${say.header(header)} ?? "none", "this checkoutId was used before: list again").to.equal("none");`,
      ]);
}
