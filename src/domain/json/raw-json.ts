import { createScanner } from 'jsonc-parser';

/** What stands in a text for a value that is put in afterwards; no text that is stored or answered has a NUL. */
const GAP = '\0';
const WRITTEN_GAP = JSON.stringify(GAP);

let gathering: string[] | undefined;

/** JSON as it was written, which is put into other JSON letter by letter. */
class RawJson {
  constructor(readonly text: string) {}

  /** To whoever knows nothing of it, it is its value. */
  toJSON(): unknown {
    if (gathering === undefined) return JSON.parse(this.text);
    gathering.push(this.text);
    return GAP;
  }
}

/**
 * JSON that is handed on as it was written: a JavaScript object would put keys that look like numbers first, and write
 * numbers in its own way. It has the type of what it stands for, and can be written, but not looked into.
 */
export function rawJson<T = unknown>(text: string): T {
  return new RawJson(text) as T;
}

/** The value as JSON, with all raw parts as they were written. As quick as the engine's own where there are none. */
export function toJson(value: unknown): string {
  const outer = gathering;
  const texts: string[] = (gathering = []);
  let written: string;
  try {
    written = JSON.stringify(value);
  } finally {
    gathering = outer;
  }
  if (texts.length === 0) return written;
  const parts = written.split(WRITTEN_GAP);
  // Some other text was a NUL by itself: then the order of keys is lost, but nothing else.
  if (parts.length !== texts.length + 1) return JSON.stringify(value);
  return parts.reduce((before, after, index) => before + texts[index - 1]! + after);
}

/** JSON, every member and element on a line of its own, with its keys in their order and its numbers as they were written. */
export function indentJson(text: string): string {
  const scanner = createScanner(text, true);
  const parts: string[] = [];
  let depth = 0;
  let opened = false;
  const breakLine = (): void => void parts.push('\n', '  '.repeat(depth));

  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const token = text.substr(scanner.getTokenOffset(), scanner.getTokenLength());
    const closes = token === '}' || token === ']';
    if (closes) depth -= 1;
    // An empty object or array stays on its line.
    if (opened !== closes) breakLine();
    opened = token === '{' || token === '[';
    if (opened) depth += 1;
    parts.push(token);
    if (token === ',') breakLine();
    if (token === ':') parts.push(' ');
  }
  return parts.join('');
}
