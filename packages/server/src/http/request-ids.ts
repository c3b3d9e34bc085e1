const PREFIX_BYTES = 6;

/**
 * Makes ids for requests: a random part for the process, then a count. Unique, short enough to read
 * out over the telephone, and no secret.
 */
export function requestIds(random: (bytes: number) => Uint8Array): () => string {
  const prefix = Buffer.from(random(PREFIX_BYTES)).toString("hex");
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}
