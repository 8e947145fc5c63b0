/** Before a slice is measured, its side has been idle for those of the others: its connections are new, its caches cold. */
const FIRST = 20;

/**
 * Does it again and again, one after the other: a few times to get going, then `count` times or for `seconds`, of which it
 * gives what each of them says.
 */
export async function timed(count, seconds, act) {
  const going = performance.now() + (seconds * 1000) / 10;
  for (let index = 0; index < FIRST && performance.now() < going; index++) await act();
  const times = [];
  const until = performance.now() + seconds * 1000;
  while (times.length < count && performance.now() < until) times.push(await act());
  return times;
}
