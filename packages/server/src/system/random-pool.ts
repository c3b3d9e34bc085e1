/** Drawn at once: a draw costs the system some microseconds, however little it is for. */
const POOL_BYTES = 8 * 1024;

/**
 * Random bytes, drawn for many at a time. Each byte is handed out once.
 * @param draw random bytes that nobody can guess.
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
