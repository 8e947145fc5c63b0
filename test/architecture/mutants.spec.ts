import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Mutant {
  name: string;
  why: string;
  file: string;
  take: string;
  put: string;
  spec: string;
  test?: string;
}

const ROOT = join(import.meta.dirname, '../..');
const LIST = '../mutants/all.mjs';
const FEWEST = 60;

/** What is wrong with a list of changes: it names what is not there, or not once. */
function faultsOf(mutants: Mutant[]): string[] {
  const names = mutants.map(({ name }) => name);
  return mutants.flatMap(({ name, why, file, take, put, spec, test }) => {
    if (!existsSync(join(ROOT, file))) return [`${name}: there is no ${file}`];
    if (!existsSync(join(ROOT, spec))) return [`${name}: there is no ${spec}`];
    const times = readFileSync(join(ROOT, file), 'utf8').split(take).length - 1;
    const titles = readFileSync(join(ROOT, spec), 'utf8');
    return [
      ...(times === 1 ? [] : [`${name}: what it takes out stands in ${file} ${times} times`]),
      ...(take === put ? [`${name}: it changes nothing`] : []),
      ...(why.trim() === '' ? [`${name}: it does not say why`] : []),
      ...(names.indexOf(name) === names.lastIndexOf(name) ? [] : [`${name}: two have this name`]),
      ...(test === undefined || test.split('|').some((part) => titles.includes(part))
        ? []
        : [`${name}: ${spec} has no test “${test}”`]),
    ];
  });
}

describe('the changes that a test must fail by', () => {
  it('are of lines that there are, once, each with its spec', async () => {
    const { ROOMS } = (await import(LIST)) as { ROOMS: Record<string, Mutant[]> };
    const mutants = Object.values(ROOMS).flat();
    expect(faultsOf(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThanOrEqual(FEWEST);
  });

  it('are seen to be of lines that there are not', () => {
    const good = {
      name: 'a',
      why: 'it shows',
      file: 'package.json',
      take: '"mediator"',
      put: '',
      spec: 'package.json',
    };
    expect(faultsOf([good])).toEqual([]);
    expect(faultsOf([{ ...good, take: '"no such' }])).toEqual(['a: what it takes out stands in package.json 0 times']);
    expect(faultsOf([{ ...good, file: 'none.ts' }])).toEqual(['a: there is no none.ts']);
    expect(faultsOf([{ ...good, spec: 'none.spec.ts' }])).toEqual(['a: there is no none.spec.ts']);
    expect(faultsOf([{ ...good, test: 'none such' }])).toEqual(['a: package.json has no test “none such”']);
    expect(faultsOf([{ ...good, put: good.take }])).toEqual(['a: it changes nothing']);
    expect(faultsOf([good, good])).toEqual(['a: two have this name', 'a: two have this name']);
  });
});
