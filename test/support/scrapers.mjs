/* Many who ask the same of a server again and again, in a thread of their own, until the thread is ended. */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { url, path, loops, pauseMs } = workerData;

async function scrape() {
  for (;;) {
    const response = await fetch(url + path);
    await response.arrayBuffer();
    await pause(pauseMs);
  }
}

await (await fetch(url + path)).arrayBuffer();
parentPort.postMessage('begun');
await Promise.all(Array.from({ length: loops }, scrape));
