import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * A transaction inside a transaction would hold one connection and wait for another: with a pool full of them, for ever.
 * Tests watch for it. In production nobody does, since keeping track of the transaction that a promise belongs to makes every
 * promise of the process dearer: 8 % of the submissions in a second.
 */
let open: AsyncLocalStorage<string> | undefined;

export const nesting = {
  /** Throws where this is called within a watched transaction. */
  refuse(name: string): void {
    const outer = open?.getStore();
    if (outer !== undefined) throw new Error(`transaction ${name} inside transaction ${outer}`);
  },
  watch<T>(name: string, work: () => Promise<T>): Promise<T> {
    return open === undefined ? work() : open.run(name, work);
  },
};

/** Tests only: watches from now on. */
export function watchNesting(): void {
  open = new AsyncLocalStorage();
}
