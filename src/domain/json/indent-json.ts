import { createScanner } from 'jsonc-parser';

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
