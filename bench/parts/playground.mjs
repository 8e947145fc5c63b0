import { startMediatorProcess } from './mediator.mjs';
import { startThread } from './thread.mjs';
import { violations } from './databases.mjs';

/**
 * A fresh copy of a filled database, the program on it as a process of its own, and somebody in a thread who plays
 * against it. Without a `player` there is nobody, without `mediator` no program.
 */
export async function playground(bench, template, label, { player, mediator = true, env = {}, given = {} } = {}) {
  const database = await bench.databases.clone(template, label);
  const process = mediator ? await startMediatorProcess(database.url, env) : undefined;
  const module = player && new URL(`../load/${player}.mjs`, import.meta.url);
  const thread = module && (await startThread(module, { url: process?.url, databaseUrl: database.url, ...given }));
  return {
    database,
    process,
    url: process?.url,
    ask: thread?.ask,
    /** Ends all of it, and looks whether a promise was broken meanwhile. */
    async close({ looked = true } = {}) {
      await thread?.stop();
      await process?.stop();
      const client = await database.connect();
      const found = looked ? await violations(client) : [];
      await client.end();
      await database.drop();
      if (found.length > 0) throw new Error(`${label}: promises are broken: ${JSON.stringify(found)}`);
    },
  };
}

/** Makes what all of `make` say, one after the other, and closes all of it whatever happens in `use`. */
export async function withAll(make, use) {
  const made = {};
  let outcome;
  try {
    for (const [name, one] of Object.entries(make)) made[name] = await one();
    outcome = await use(made);
  } catch (error) {
    // What broke first is what is told.
    await Promise.allSettled(Object.values(made).map((one) => one.close({ looked: false })));
    throw error;
  }
  for (const one of Object.values(made)) await one.close();
  return outcome;
}
