import { expect, test } from "vitest";
import { Choices } from "../../campaign/random.ts";
import { nameOf, Troubles } from "../../campaign/session-plan.ts";

const plan = (seed: number, rounds: number) => {
  const troubles = new Troubles(new Choices(seed), { processes: 2, lastsMs: 4_000 });
  return Array.from({ length: rounds }, () => troubles.next());
};

test("the same seed plans the same trouble, and another one other trouble", () => {
  expect(plan(1, 20)).toEqual(plan(1, 20));
  expect(plan(2, 20)).not.toEqual(plan(1, 20));
});

test("sixty rounds do everything to sessions at every moment, and all that staff can do", () => {
  const rounds = plan(1, 60);
  const faults = rounds.flatMap(({ faults: each }) => each.map(({ fault }) => fault));
  const moments = new Set(faults.map(({ moment }) => moment));
  expect([...moments].sort()).toEqual(
    [
      ...["startup", "authentication", "set_up", "set_up_answer", "listen", "watch", "idle"],
      ...["look_up", "begin", "lock", "load", "write", "commit", "committed", "roll_back"],
    ].sort(),
  );
  for (const moment of moments) {
    const deeds = faults.filter((fault) => fault.moment === moment).map(({ deed }) => nameOf(deed));
    expect([...new Set(deeds)].sort()).toEqual(
      [
        ...["cancel", "terminate", "terminate, end unheard", "half-close to_server", "half-close to_client"],
        ...["to_server", "to_client", "both"].flatMap((way) => [
          `reset, told ${way}`,
          `silence ${way}`,
          `silence for good ${way}`,
        ]),
      ].sort(),
    );
  }
  const staff = new Set(rounds.flatMap(({ staff: each }) => each.map(({ deed }) => deed.kind)));
  expect([...staff].sort()).toEqual(["cancel", "limit", "restart", "terminate"]);
});
