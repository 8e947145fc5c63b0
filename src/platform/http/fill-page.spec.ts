import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fillPage, PAGE_BYTES } from './fill-page.js';

const bytesOf = (items: readonly string[]): number =>
  items.reduce((sum, item) => sum + Buffer.byteLength(JSON.stringify(item)), 0);

describe('a page of a list', () => {
  /** Texts of so many characters, each thought to be so much larger than it is. */
  async function pageOf(sizes: readonly number[], factor = 1): Promise<{ items: string[]; shown: number[] }> {
    const shown: number[] = [];
    const items = await fillPage(sizes, {
      most: (size) => size * factor,
      show: async (rows) => {
        shown.push(...rows);
        return rows.map((size) => 'é'.repeat(size / 2));
      },
    });
    return { items, shown };
  }

  it('has all items where they are small', async () => {
    expect((await pageOf([10, 20, 30])).items).toHaveLength(3);
    expect((await pageOf([])).items).toEqual([]);
  });

  it('has at least one item, however large', async () => {
    expect((await pageOf([5 * PAGE_BYTES, 10])).items).toHaveLength(1);
  });

  it('ends with the item that fills it, in order, and shows little more than is on it', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 50 }), async (all, factor) => {
        const { items, shown } = await pageOf(all, factor);
        expect(items).toEqual(all.slice(0, items.length).map((size) => 'é'.repeat(size / 2)));
        expect(bytesOf(items.slice(0, -1))).toBeLessThan(PAGE_BYTES);
        expect(items.length === all.length || bytesOf(items) >= PAGE_BYTES).toBe(true);
        expect(shown.length - items.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 40 },
    );
  });
});
