import { expect, test } from "vitest";
import { toldChange } from "../../src/domain/news.ts";

const OWN = { partnerId: 1, environment: "production" } as const;

test("only the webhook of its own account is told of a fact", () => {
  const takers = [
    { id: 11, partner: undefined },
    { id: 12, partner: { ...OWN, partnerId: 2 } },
    { id: 13, partner: { ...OWN, environment: "trial" } as const },
    { id: 14, partner: OWN },
  ];
  const news = { about: { kind: "entry", ...OWN, reference: "bank 4711" }, kind: "account.entry", at: 5 } as const;
  const told = { subject: "fact entry 1 production bank 4711", cuid: undefined, kind: "account.entry", at: 5 };
  expect(toldChange(news, takers)).toEqual([{ ...told, targets: [14] }]);
  expect(toldChange(news, takers.slice(0, 3))).toEqual([]);
});
