/** Does every task, so many at a time; gives the seconds it took and the milliseconds of each. */
export async function crowd(clients, tasks, act) {
  const times = new Array(tasks.length);
  let next = 0;
  const client = async () => {
    for (let index = next++; index < tasks.length; index = next++) {
      const began = performance.now();
      await act(tasks[index], index);
      times[index] = performance.now() - began;
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return { seconds: (performance.now() - began) / 1000, times };
}
