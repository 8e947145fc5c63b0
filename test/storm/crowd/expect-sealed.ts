import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import { readTar } from '../../support/record.js';
import type { Crowd, CrowdedServer } from './crowd.js';

const AT_ONCE = 8;

/** Every run's record downloads, from each server, as the same bytes, which are those that its sums and its digest speak of. */
export async function expectSealed({ servers, contracts }: Crowd): Promise<number> {
  const left = [...contracts.keys()];
  const downloads = async (): Promise<void> => {
    for (let run = left.pop(); run !== undefined; run = left.pop()) {
      const [tar, again] = await Promise.all(servers.map((server) => download(server, run)));
      expect({ run, same: tar!.body.equals(again!.body) }).toEqual({ run, same: true });
      expect({ run, ...(await sumsOf(tar!.body)) }).toEqual({ run, digest: tar!.digest, wrong: [] });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, downloads));
  return contracts.size;
}

async function download({ url }: CrowdedServer, run: string): Promise<{ digest: string | null; body: Buffer }> {
  const response = await fetch(`${url}/v1/runs/${run}/record`);
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`the record of run ${run}: ${response.status} ${body.toString()}`);
  return { digest: response.headers.get('etag'), body };
}

/** The digest of what the tar says of its files, as a tag, and the files that are not as it says. */
async function sumsOf(tar: Buffer): Promise<{ digest: string; wrong: string[] }> {
  const files = (await readTar(tar)).filter(({ type }) => type === 'file');
  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const sums = files.find(({ name }) => name.endsWith('/SHA256SUMS'))!;
  const top = sums.name.slice(0, -'SHA256SUMS'.length);
  const told = sums.body.toString().split('\n').filter(Boolean).sort();
  const found = files
    .filter((file) => file !== sums)
    .map(({ name, body }) => `${sha256(body)}  ${name.slice(top.length)}`);
  const wrong = [...told.filter((line) => !found.includes(line)), ...found.filter((line) => !told.includes(line))];
  return { digest: `"sha256:${sha256(sums.body)}"`, wrong };
}
