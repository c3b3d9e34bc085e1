/** Counts the turns of the event loop until it is called again. */
export function countTurns(): () => number {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  return () => {
    clearImmediate(next);
    return turns;
  };
}
