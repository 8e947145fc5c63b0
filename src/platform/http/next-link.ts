/** The Link header (RFC 8288) that leads to the next page: the same query with its cursor. */
export function nextLink(url: string, cursor: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const params = new URLSearchParams(query);
  params.set('cursor', cursor);
  return `<${path}?${params.toString()}>; rel="next"`;
}
