import { expect, test } from "vitest";
import { Choices } from "../campaign/random.ts";
import { planRound } from "../campaign/session-plan.ts";

const plan = (seed: number, rounds: number) => {
  const choices = new Choices(seed);
  return Array.from({ length: rounds }, () => planRound(choices, 2, 4_000));
};

test("the same seed plans the same trouble, and another one other trouble", () => {
  expect(plan(1, 20)).toEqual(plan(1, 20));
  expect(plan(2, 20)).not.toEqual(plan(1, 20));
});

test("sessions are lost at every moment, in every way, for long and for short", () => {
  const rounds = plan(1, 500);
  const faults = rounds.flatMap(({ faults: each }) => each.map(({ fault }) => fault));
  expect([...new Set(faults.map(({ moment }) => moment))].sort()).toEqual(
    [
      ...["startup", "authentication", "set_up", "set_up_answer", "listen", "watch", "idle"],
      ...["look_up", "begin", "lock", "load", "write", "commit", "committed", "roll_back"],
    ].sort(),
  );
  const kinds = new Set(faults.map(({ deed }) => deed.kind));
  expect([...kinds].sort()).toEqual(["cancel", "half_close", "reset", "silence", "terminate"]);
  const staff = new Set(rounds.flatMap(({ staff: each }) => each.map(({ deed }) => deed.kind)));
  expect([...staff].sort()).toEqual(["cancel", "limit", "restart", "terminate"]);
});
