import type { Dice } from '../../../src/domain/steps/dice.fixture.js';
import { ODD_TEXTS, oddValue, toText, verbatim } from './odd-values.js';

type Container = Record<string, unknown> | unknown[];

/** Where something stands: a container of the document, and a key of it. */
interface Spot {
  container: Container;
  key: string;
}

/** The document with one thing changed, somewhere in it; what is given stays as it is. */
export function mutateJson(document: unknown, dice: Dice): unknown {
  const copy: unknown = structuredClone(document);
  const spots = spotsOf(copy);
  const spot = spots.length === 0 ? undefined : dice.of(spots);
  if (spot === undefined || dice.roll(24) === 0) return oddValue(dice);
  change(spot, dice, spots);
  return copy;
}

function change({ container, key }: Spot, dice: Dice, spots: Spot[]): void {
  const value = valueAt({ container, key });
  switch (dice.roll(9)) {
    case 0:
      return remove(container, key);
    case 1:
      return add(container, dice);
    case 2:
      return put(container, key, near(value, dice));
    case 3: {
      const other = dice.of(spots);
      const theirs: unknown = structuredClone(valueAt(other));
      put(other.container, other.key, structuredClone(value));
      return put(container, key, theirs);
    }
    case 4:
      return put(container, key, Array.isArray(container) ? [value] : verbatim(twice(value)));
    case 5:
      return duplicate(container, key, value, dice);
    default:
      return put(container, key, oddValue(dice));
  }
}

function spotsOf(value: unknown, found: Spot[] = []): Spot[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ container: value as Container, key });
    spotsOf((value as Record<string, unknown>)[key], found);
  }
  return found;
}

function valueAt({ container, key }: Spot): unknown {
  return (container as Record<string, unknown>)[key];
}

function put(container: Container, key: string, value: unknown): void {
  // `__proto__` as a key of the text, not as JavaScript means it.
  Object.defineProperty(container, key, { value, enumerable: true, writable: true, configurable: true });
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
}

function add(container: Container, dice: Dice): void {
  if (Array.isArray(container)) container.splice(dice.roll(container.length + 1), 0, oddValue(dice));
  else put(container, dice.of(['extra', '__proto__', 'constructor', '', 'a/b~c', ...ODD_TEXTS]), oddValue(dice));
}

function duplicate(container: Container, key: string, value: unknown, dice: Dice): void {
  if (Array.isArray(container)) container.splice(Number(key), 0, structuredClone(value));
  else put(container, `${key}${dice.of(['', ' ', '\0', '2'])}`, structuredClone(value));
}

/** The value inside an object that says it twice. */
function twice(value: unknown): string {
  return `{"a":${toText(value)},"a":${toText(value)}}`;
}

/** One step beside the value: a number off by one, a text one character longer or shorter. */
function near(value: unknown, dice: Dice): unknown {
  if (typeof value === 'number') return value + dice.of([1, -1, 0.5]);
  if (typeof value === 'string')
    return dice.of([`${value}a`, value.slice(1), `${value}\n`, value.toUpperCase(), ` ${value}`]);
  if (typeof value === 'boolean') return dice.of([!value, String(value), Number(value)]);
  return oddValue(dice);
}
