import { describe, expect, it } from '@jest/globals';
import { distinctNodes, tooWide } from './width.js';

const role = (as: string, ...nodes: string[]) => ({ as, nodes: nodes.map((node_id) => ({ node_id, label: node_id })) });

describe('width', () => {
  it('counts a node that serves two roles once', () => {
    expect(distinctNodes([])).toBe(0);
    expect(distinctNodes([role('a', 'n1', 'n2'), role('b', 'n2', 'n3')])).toBe(3);
  });

  it('is judged against the cap, and 0 is none', () => {
    expect(tooWide(2, 2)).toBe(false);
    expect(tooWide(3, 2)).toBe(true);
    expect(tooWide(1000, 0)).toBe(false);
  });
});
