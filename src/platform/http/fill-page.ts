import { toJson } from '../../domain/json/raw-json.js';

/**
 * Where a page of a list ends though there is more, whatever its `limit`. The item that crosses it is still on the page, so
 * that each page has one, however large it is.
 */
export const PAGE_BYTES = 1024 * 1024;

export interface PageOf<Row, Item> {
  /** How many bytes the item may have at most, as far as its row tells. */
  most: (row: Row) => number;
  /** Makes items of some of the rows, one of each. */
  show: (rows: readonly Row[]) => Promise<Item[]>;
}

/**
 * The items of the rows, in their order, up to the end of the page. What makes an item large is often read only when it is
 * shown: so it is made of no more rows at a time than might fill the rest of the page.
 */
export async function fillPage<Row, Item>(rows: readonly Row[], { most, show }: PageOf<Row, Item>): Promise<Item[]> {
  const items: Item[] = [];
  for (let bytes = 0; items.length < rows.length;) {
    const some = withinBytes(rows.slice(items.length), most, PAGE_BYTES - bytes);
    for (const item of await show(some)) {
      items.push(item);
      bytes += Buffer.byteLength(toJson(item));
      if (bytes >= PAGE_BYTES) return items;
    }
  }
  return items;
}

/** The first of these, up to and with the one that makes them so many bytes. */
export function withinBytes<One>(all: readonly One[], bytesOf: (one: One) => number, most: number): One[] {
  let bytes = 0;
  const end = all.findIndex((one) => (bytes += bytesOf(one)) >= most);
  return end < 0 ? [...all] : all.slice(0, end + 1);
}
