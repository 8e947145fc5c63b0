/* What was measured, as numbers, as lines of a table and as a page. */

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/**
 * A figure of several rounds. `of` and `over` have a number for each round; the ratio is the median of the rounds' own
 * ratios, so that what disturbs a whole round disturbs both sides of it. `least` or `most` is the bar that the ratio has
 * to keep, or the value itself where there is no `over`.
 */
export function figureOf({ name, unit, of, over, overName, least, most, note }) {
  const ratios = over?.map((other, round) => of[round] / other);
  const [value, reference] = [median(of), over && median(over)];
  const ratio = ratios && median(ratios);
  const judged = ratio ?? value;
  const bar = least !== undefined ? `≥ ${least}` : most !== undefined ? `≤ ${most}` : '';
  const holds = bar === '' ? undefined : least !== undefined ? judged >= least : judged <= most;
  const spread = ratios && [Math.min(...ratios), Math.max(...ratios)];
  return { name, unit, value, reference, referenceName: overName, ratio, spread, bar, holds, note, rounds: of.length };
}

function number(value) {
  if (value === undefined) return '';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

const HEAD = ['figure', 'value', 'reference', 'ratio', 'from–to', 'bar', 'holds'];

function cells({ name, unit, value, reference, referenceName, ratio, spread, bar, holds }) {
  return [
    name,
    `${number(value)} ${unit}`,
    reference === undefined ? '' : `${number(reference)} ${unit}${referenceName ? `, ${referenceName}` : ''}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    spread === undefined ? '' : `${spread[0].toFixed(2)}–${spread[1].toFixed(2)}`,
    bar,
    holds === undefined ? '' : holds ? 'yes' : 'NO',
  ];
}

/** For whoever watches. */
export function inOneLine(figure) {
  return cells(figure)
    .filter((cell) => cell !== '')
    .join(' | ');
}

/** For a terminal. */
export function table(figures) {
  const rows = [HEAD, ...figures.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => '─'.repeat(width)).join('  '));
  return lines.join('\n');
}

/** For a page. */
export function markdown(figures) {
  const line = (row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const notes = figures.flatMap(({ name, note }) => (note ? [`- ${name}: ${note}`] : []));
  const rows = [
    line(HEAD),
    line(HEAD.map((_, column) => (column === 0 ? '---' : '---:'))),
    ...figures.map((one) => line(cells(one))),
  ];
  return [...rows, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}
