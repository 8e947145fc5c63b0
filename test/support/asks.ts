import type { Answer } from './http.js';
import type { TestMediator } from './mediator.js';

/** What an answer must be: `{ "ok": boolean }`, and whatever else. */
export const YES_OR_NO = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };

/** A question with the output `verdict`; `asks` is put into `ask`, `more` into the step. */
export function question(id: string, asks: Record<string, unknown> = {}, more: Record<string, unknown> = {}): object {
  return { id, ask: { prompt: `${id}?`, ...asks }, out: ['verdict'], schema: { verdict: YES_OR_NO }, ...more };
}

/** Somebody answers the step. */
export function answer(
  server: TestMediator,
  runId: string,
  seq: number,
  body: unknown = { ok: true },
  principal = 'ann',
): Promise<Answer> {
  const headers = { 'mediator-principal': principal };
  return server.send('POST', `/v1/runs/${runId}/steps/${seq}/answer`, { body, headers });
}

/** The open questions, as this person sees them. */
export async function inbox(server: TestMediator, principal = 'ann'): Promise<any[]> {
  const { body } = await server.send('GET', '/v1/asks?limit=200', { headers: { 'mediator-principal': principal } });
  return body.items;
}

/** The run's questions as they are stored, in order. */
export function asksOf(server: TestMediator, runId: string): Promise<any[]> {
  return server.database.sql(
    'SELECT seq, attempt, state, answer, answered_by FROM asks WHERE run_id = $1 ORDER BY seq, attempt',
    [runId],
  );
}
