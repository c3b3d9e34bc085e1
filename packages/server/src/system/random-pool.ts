/** Size of a draw in bytes. Large and small draws take the same few microseconds. */
const POOL_BYTES = 8 * 1024;

/**
 * Random bytes from a pool. Each byte is used once.
 * @param draw cryptographically secure random bytes.
 */
export function poolRandom(draw: (bytes: number) => Uint8Array): (bytes: number) => Uint8Array {
  let pool: Uint8Array = new Uint8Array(0);
  let used = 0;
  return (bytes) => {
    if (bytes > POOL_BYTES) return draw(bytes);
    if (used + bytes > pool.length) {
      pool = draw(POOL_BYTES);
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}
