import fc from "fast-check";
import fastify from "fastify";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { serializeListing } from "../../src/http/versions/v1_0_1.ts";
import { VERSIONS } from "../../src/http/versions/version.ts";

const bouquets = fc.array(
  fc.record({ code: fc.string(), name: fc.string({ unit: "grapheme" }), price: fc.integer({ min: 1 }) }),
);

test.each(VERSIONS)("a listing of $name is written as its serializer would write it", async ({ packages }) => {
  const app = fastify();
  const response = Type.Object({ success: Type.Boolean(), code: Type.String(), body: packages.schema });
  let sent: () => object = () => ({});
  let isShared = false;
  app.get("/", { schema: { response: { 200: response } } }, (_request, reply) => {
    const serialize = reply.getSerializationFunction("200") as unknown as (envelope: object) => string;
    if (isShared) reply.serializer((envelope: { body: object }) => serializeListing(envelope, serialize));
    reply.send(sent());
  });
  const customer = { cuid: "1", first_name: "\u2028", last_name: '"', status: "active" };
  const subscriptions = [{ code: "A", name: "[]}}}", startdate: "x", enddate: "y" }];
  await fc.assert(
    fc.asyncProperty(bouquets, fc.constantFrom("tv", "internet", "iptv"), async (list, service) => {
      const connection = service === "tv" ? { stb: "1", status: "active" } : { username: "1", status: "active" };
      // What the schema does not have gets out with no bouquet.
      const priced = list.map((bouquet) => ({ ...bouquet, amt: bouquet.price, segments: ["secret"] }));
      sent = () => {
        const listing = { connection, subscriptions, bouquets: priced };
        return { success: true, code: "400aa010", body: { checkoutId: "c", customer, [service]: listing } };
      };
      isShared = false;
      const whole = (await app.inject("/")).body;
      expect(whole).not.toContain("secret");
      isShared = true;
      // Twice, since a list that was seen is written from memory.
      for (let turn = 0; turn < 2; turn += 1) expect((await app.inject("/")).body).toBe(whole);
    }),
  );
});
