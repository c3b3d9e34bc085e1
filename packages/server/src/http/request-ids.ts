const ID_BYTES = 9;
const IDS_AT_ONCE = 256;

/**
 * Makes ids for requests: 72 random bits each, so that they are unique and tell nobody how many
 * requests there are. Randomness is drawn for many at once, which is what makes it cheap.
 */
export function requestIds(random: (bytes: number) => Uint8Array): () => string {
  let drawn = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === drawn.length) {
      drawn = Buffer.from(random(ID_BYTES * IDS_AT_ONCE));
      used = 0;
    }
    used += ID_BYTES;
    return drawn.toString("hex", used - ID_BYTES, used);
  };
}
