import fc from "fast-check";
import fastify from "fastify";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { type ListingEnvelope, serializeListing } from "../../src/http/versions/shared-list.ts";
import type { Envelope } from "../../src/http/versions/version.ts";
import { VERSIONS } from "../../src/http/versions/versions.ts";

const bouquets = fc.array(
  fc.record({ code: fc.string(), name: fc.string({ unit: "grapheme" }), price: fc.integer({ min: 1 }) }),
);

test.each(["tv", "internet", "iptv"])("a listing of %s is written as its serializer would write it", (service) => {
  fc.assert(
    fc.property(bouquets, fc.string(), (list, name) => {
      const body = { checkoutId: name, [service]: { subscriptions: [{ name }], bouquets: list } };
      const envelope = { success: true, code: name, body };
      // Twice, since a list that was seen is written from memory.
      for (let turn = 0; turn < 2; turn += 1) {
        expect(serializeListing(envelope, JSON.stringify)).toBe(JSON.stringify(envelope));
      }
    }),
  );
});

test("what does not end with its list is left to the serializer", () => {
  const envelope = { body: { tv: { bouquets: [{ code: "A" }], last: "[]" } } };
  expect(serializeListing(envelope, JSON.stringify)).toBe(JSON.stringify(envelope));
  expect(serializeListing({ body: {} }, JSON.stringify)).toBe('{"body":{}}');
});

test.each(VERSIONS)("what the schema of $name does not have gets out with no bouquet", async ({ packages }) => {
  const app = fastify();
  const response = Type.Object({ success: Type.Boolean(), code: Type.String(), body: packages.schema });
  app.get("/", { schema: { response: { 200: response } } }, (_, reply) => {
    const customer = { cuid: "1", first_name: "A", last_name: "B", status: "active" };
    const bouquets = [{ code: "A", name: "B", price: 1.5, amt: 1.5, segments: ["secret"] }];
    const tv = { connection: { stb: "1", status: "active" }, subscriptions: [], bouquets };
    const envelope = { success: true, code: "400aa010", body: { checkoutId: "c", customer, tv } };
    const serialize = reply.getSerializationFunction("200") as unknown as (envelope: object) => string;
    // The second is written with the first one's list.
    const written = [1, 2].map(() => JSON.parse(serializeListing(envelope, serialize)));
    reply.serializer(JSON.stringify).send(written);
  });
  const price = packages.schema === VERSIONS[0]?.packages.schema ? "price" : "amt";
  const written: { body: { tv: { bouquets: object[] } } }[] = (await app.inject("/")).json();
  expect(written.map(({ body }) => body.tv.bouquets)).toEqual(
    [1, 2].map(() => [{ code: "A", name: "B", [price]: 1.5 }]),
  );
});

test.each(VERSIONS)("a listing of $name is written as the serializer of its route writes it", async ({ packages }) => {
  const app = fastify();
  const response = Type.Object({ success: Type.Boolean(), code: Type.String(), body: packages.schema });
  let sent: Envelope & { readonly body: Record<string, unknown> & ListingEnvelope["body"] } = {
    success: true,
    code: "",
    body: {},
  };
  app.get("/", { schema: { response: { 200: response } } }, async () => sent);
  const profile = { cuid: "1", first_name: "\u2028", last_name: '"', status: "active" };
  const subscriptions = [{ code: "A", name: "[]}}}", startdate: "x", enddate: "y" }];
  await fc.assert(
    fc.asyncProperty(bouquets, fc.constantFrom("tv", "internet", "iptv"), async (list, service) => {
      const connection = service === "tv" ? { stb: "1", status: "active" } : { username: "1", status: "active" };
      const priced = list.map(({ price, ...bouquet }) => ({ ...bouquet, price, amt: price }));
      const kept = packages.schema === VERSIONS[0]?.packages.schema ? "price" : "amt";
      const shown = priced.map(({ code, name, [kept]: price }) => ({ code, name, [kept]: price }));
      const listing = { connection, subscriptions, bouquets: shown };
      sent = { success: true, code: "400aa010", body: { checkoutId: "c", customer: profile, [service]: listing } };
      const whole = (await app.inject("/")).body;
      expect(serializeListing(sent, JSON.stringify)).toBe(whole);
    }),
  );
});
