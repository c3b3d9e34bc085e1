import { WrongUsage } from "./runtime.ts";

/** The value of a flag that is a number. @throws WrongUsage where it is none from 1 to `most`. */
export function readWholeNumber(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (/^[0-9]{1,10}$/.test(text) && number >= 1 && number <= most) return number;
  throw new WrongUsage(`${flag} must be a whole number from 1 to ${most}, but is ${JSON.stringify(text)}`);
}
