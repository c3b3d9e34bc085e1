import { expect, test } from "vitest";
import { civilDate, dayNumber, daysInMonth } from "../../src/domain/civil-date.ts";

const DAY_MS = 86_400_000;
const LAST = Date.UTC(10_000, 1, 1) / DAY_MS;

test("every day of 10,000 years is the one that the platform's calendar has", () => {
  const wrong: number[] = [];
  for (let days = -LAST / 4; days < LAST; days += 1) {
    const number = Math.floor(days);
    const date = new Date(number * DAY_MS);
    const { year, month, day } = civilDate(number);
    const isSame = year === date.getUTCFullYear() && month === date.getUTCMonth() && day === date.getUTCDate();
    if (!isSame || dayNumber(year, month, day) !== number) wrong.push(number);
  }
  expect(wrong).toEqual([]);
});

test("every month of 8,000 years is as long as the platform's calendar has it", () => {
  for (let month = 0; month < 8_000 * 12; month += 1) {
    const year = 1970 + Math.floor(month / 12);
    const expected = new Date(Date.UTC(year, (month % 12) + 1, 0)).getUTCDate();
    if (daysInMonth(year, month % 12) !== expected) expect.fail(`month ${month % 12} of ${year}`);
  }
});
