/*
 * A thread of its own for whoever makes the requests, so that it neither waits for the one that measures something else
 * nor keeps it waiting. `module` exports a class: made once from `given`, asked by name, told to `stop`.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export async function startThread(module, given) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { module: module.href, given } });
  const waiting = [];
  let broken;
  const fail = (error) => {
    broken = error;
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  worker.on('message', ({ value, error }) => {
    const { resolve, reject } = waiting.shift();
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  });
  worker.on('error', fail);
  const ask = (name, ...args) =>
    new Promise((resolve, reject) => {
      if (broken) return void reject(broken);
      waiting.push({ resolve, reject });
      worker.postMessage({ name, args });
    });
  await ask('start');
  return {
    ask,
    stop: async () => {
      try {
        await ask('stop');
      } finally {
        await worker.terminate();
      }
    },
  };
}

if (!isMainThread && workerData?.module) {
  const { default: Played } = await import(workerData.module);
  const played = new Played(workerData.given);
  parentPort.on('message', ({ name, args }) => {
    Promise.resolve()
      .then(() => played[name](...args))
      .then(
        (value) => parentPort.postMessage({ value }),
        (error) => parentPort.postMessage({ error: error.stack ?? String(error) }),
      );
  });
}
