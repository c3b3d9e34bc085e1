/** The exact sum of decimal strings, with the decimals of the most precise one. */
export function sumAmounts(amounts: readonly string[]): string {
  const digits = Math.max(0, ...amounts.map((amount) => amount.split(".")[1]?.length ?? 0));
  const sum = amounts.reduce((all, amount) => {
    const [whole = "0", rest = ""] = amount.split(".");
    return all + BigInt(whole + rest.padEnd(digits, "0"));
  }, 0n);
  const text = String(sum < 0n ? -sum : sum).padStart(digits + 1, "0");
  const point = text.length - digits;
  return `${sum < 0n ? "-" : ""}${text.slice(0, point)}${digits === 0 ? "" : `.${text.slice(point)}`}`;
}
