import { type ProblemCode, PROBLEMS } from '../domain/problem-codes.js';
import type { ProblemDetail } from './examples/example.js';
import { PROBLEM_DETAILS, REQUEST_ID } from './examples/problem-details.js';

const INSTANCE = '/v1/runs/change-4711-ps3';

/** A problem of this code as it is answered. */
export function problemExample(code: ProblemCode, { detail, ...more }: ProblemDetail, instance: string): object {
  const { title, status } = PROBLEMS[code];
  return { type: `/problems/${code}`, title, status, detail, instance, code, request_id: REQUEST_ID, ...more };
}

/** `NotFound` of `not_found`. */
export function nameOf(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** The reference to the example of this code that many operations share. */
export function generalExample(code: ProblemCode): string {
  return `#/components/examples/${nameOf(code)}`;
}

/** The examples of problems that operations share, by name: of these codes. */
export function sharedExamples(codes: ProblemCode[]): Record<string, { summary: string; value: unknown }> {
  return Object.fromEntries(
    codes.map((code) => [
      nameOf(code),
      { summary: PROBLEMS[code].title, value: problemExample(code, PROBLEM_DETAILS[code], INSTANCE) },
    ]),
  );
}

const STYLE = `
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; background: #fff }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem }
h2 { font-size: 1rem; margin: 1.5rem 0 0 }
p { margin: .25rem 0 }
code { font: .9em ui-monospace, monospace; background: #eef1f5; border-radius: .2rem; padding: .1em .3em; overflow-wrap: anywhere }
ul { padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .25rem .75rem }
footer { margin-top: 2rem; border-top: 1px solid #d5dbe3; padding-top: 1rem }
a { color: #0b57b7 }
@media (prefers-color-scheme: dark) {
  body { color: #e6eaf0; background: #12161c } code { background: #232a34 } a { color: #8ab8ff } footer { border-color: #333c48 }
}`;

/** A problem explained to a person, as a page that needs nothing else. */
export function problemPage(code: ProblemCode): string {
  const { status, title, caller, operator } = PROBLEMS[code];
  const others = Object.keys(PROBLEMS).map((other) =>
    other === code ? `<li><strong>${other}</strong></li>` : `<li><a href="/problems/${other}">${other}</a></li>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Mediator</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p><code>${status}</code> <code>${code}</code></p>
<h1>${escaped(title)}</h1>
<h2>For the caller</h2>
<p>${prose(caller)}</p>
<h2>For the operator</h2>
<p>${prose(operator)}</p>
</main>
<footer>
<p><a href="/docs">Documentation of the API</a></p>
<h2>All problems</h2>
<ul>
${others.join('\n')}
</ul>
</footer>
</body>
</html>
`;
}

function prose(text: string): string {
  return escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
