/** A request as it will be sent, byte for byte but for what HTTP itself adds. */
export interface FuzzRequest {
  /** The operation of the document that it is for; undefined where it is for none. */
  operationId: string | undefined;
  method: string;
  /** With its query; sent as it is. */
  path: string;
  /** A header with several values is sent several times. */
  headers: Record<string, string | string[]>;
  body?: Buffer;
  /** In chunks, without Content-Length. */
  chunked?: boolean;
  /** What was done to it after it was valid, in words. */
  mutations: string[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request as a line for a shell. A body that is no text comes from `base64 -d`. */
export function curlOf(url: string, { method, path, headers, body, chunked }: FuzzRequest): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
  );
  if (chunked) lines.push(`-H 'Transfer-Encoding: chunked'`);
  const text = body?.toString('utf8') ?? '';
  const isText = body === undefined || Buffer.from(text).equals(body);
  const data = body === undefined ? [] : [`--data-binary ${isText && !text.includes('\0') ? quoted(text) : '@-'}`];
  const curl = ['curl -sS -i --path-as-is -g', `-X ${method}`, ...lines, ...data, quoted(url + path)].join(' ');
  return data[0] === '--data-binary @-' ? `echo ${body!.toString('base64')} | base64 -d | ${curl}` : curl;
}
