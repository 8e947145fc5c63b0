import { findPostmaster } from './find-postmaster.js';

/** SIGINT: fast shutdown, clean. SIGQUIT: immediate, the next start recovers from the log. */
export function signalPostmaster(cluster: string, signal: 'SIGINT' | 'SIGQUIT'): void {
  const pid = findPostmaster(cluster);
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch {
    // Gone in between.
  }
}
