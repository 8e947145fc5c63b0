import { PROBLEMS } from '../../domain/problem-codes.js';
import { VERSION } from '../version.js';
import type { OperationExamples } from './example.js';

const problems = { invalid_request: { detail: 'query/x must be well-formed Unicode without NUL' } };
const up = { status: 'up' };

export const getServerInfo: OperationExamples = {
  answers: {
    200: {
      this_server: {
        summary: 'This server',
        value: { name: 'mediator', version: VERSION, docs: '/docs', openapi: '/openapi.json' },
      },
    },
  },
  problems,
};

export const explainProblem: OperationExamples = {
  answers: {
    200: { explained: { summary: 'One of them', value: { code: 'not_sealed', ...PROBLEMS.not_sealed } } },
  },
  problems: {
    invalid_request: { detail: 'path/code must be well-formed Unicode without NUL' },
    not_found: { detail: `there is no problem x; there are ${Object.keys(PROBLEMS).join(', ')}` },
  },
};

export const livez: OperationExamples = {
  answers: { 200: { ok: { summary: 'It turns', value: { status: 'ok' } } } },
  problems,
};

export const readyz: OperationExamples = {
  answers: {
    200: {
      ready: {
        summary: 'Ready',
        value: { status: 'ok', info: { server: up, database: up }, error: {}, details: { server: up, database: up } },
      },
    },
    503: {
      database_away: { summary: 'The database is away', value: report({ status: 'down', message: 'does not answer' }) },
    },
  },
  problems,
};

export const metrics: OperationExamples = {
  answers: {
    200: {
      text: {
        summary: 'The beginning',
        value: [
          '# HELP mediator_wakes_total Calls of wake, by why.',
          '# TYPE mediator_wakes_total counter',
          'mediator_wakes_total{why="startup"} 1',
          'mediator_wakes_total{why="result"} 12',
          '',
        ].join('\n'),
      },
    },
  },
  problems,
};

function report(database: object): object {
  return { status: 'error', info: { server: up }, error: { database }, details: { server: up, database } };
}
