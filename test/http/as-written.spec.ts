import { describe, expect, it } from '@jest/globals';
import { expectProblem } from '../support/problem.js';
import { readTar } from '../support/record.js';
import { serverSuite } from '../support/server-suite.js';

const AGENT =
  '{"z":1.0,"10":1e2,"9":[{"b":-0,"2":0.10,"1":3.141592653589793238462643}],"__proto__":{"constructor":1},"a":null}';
const WORK = '{ "note" : {"7":"seven", "07":"x","6":12345678901234567168 } , "system":"s","change_id":"1"}';
const ATTRS = '{"zeta":"1","10":"x","9":"y"}';
const SCHEMA = '{"type":"object","properties":{"10":{"maximum":1e3},"9":{"const":1.50}},"required":["ok"],"title":"t"}';
const ANSWER = '{"ok":true, "10":7.0,"9":1e1,"b":{"3":1,"2":2}}';
const CONTRACT = `{"steps": [
  {"id":"do","uses":"x","agent":${AGENT},"out":["2","1"],"schema":{"2":${SCHEMA},"1":true}},
  {"id":"look","ask":{"prompt":"?"},"out":["verdict"],"schema":{"verdict":${SCHEMA}}},
  {"id":"again","uses":"x","run":["true"],"loop":{"back_to":"look","max":2,"until":{"exit_code":0}}}],
  "work":${WORK},"requires":[{"attrs":${ATTRS},"as":"x","capability":"board"}],"run_id":"RUN"}`;

describe('JSON that is taken', () => {
  const server = serverSuite();

  /** The answer as text, since to read it is to lose what is looked for. */
  async function say(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
    const type = { 'content-type': 'application/json', ...headers };
    const response = await fetch(server.url + path, { method, body, headers: body === undefined ? headers : type });
    return { status: response.status, text: await response.text() };
  }

  it('N1: is handed on, shown and recorded with its keys in their order and its very numbers', async () => {
    const n1 = server.node('n1', [{ zeta: '1', 10: 'x', 9: 'y' }]);
    await n1.advertise();
    const contract = CONTRACT.replace('RUN', 'as-written');
    const requires = `[{"attrs":${ATTRS},"as":"x","capability":"board"}]`;

    const created = await say('POST', '/v1/runs', contract);
    expect(created.status).toBe(201);
    const queued = await say('POST', '/v1/runs', CONTRACT.replace('RUN', 'as-queued'));
    expect(queued.status).toBe(202);
    const path = '/v1/runs/as-written';
    const listed = await say('GET', '/v1/runs');
    for (const { text } of [created, queued, await say('GET', path), listed]) {
      expect(text).toContain(`"work":${WORK}`);
      expect(text).toContain(`"requires":${requires}`);
    }
    expect((await say('GET', '/v1/queue')).text).toContain(`"requires":${requires}`);
    const [stored] = await server.database.sql<any>(
      "SELECT contract::text, requires::text FROM runs WHERE run_id = 'as-written'",
    );
    expect(stored).toEqual({ contract, requires });

    const claimed = await say('POST', '/v1/nodes/n1/claim?wait=0');
    expect(claimed.text).toContain(`"agent":${AGENT}`);
    expect(claimed.text).toContain(`"schema":{"2":${SCHEMA},"1":true}`);
    const claim = JSON.parse(claimed.text);
    const lease = { 'mediator-lease': claim.lease.nonce };
    for (const [name, body] of [
      ['1', '{}'],
      ['2', ANSWER.replace('7.0', '7').replace('1e1', '1.5')],
    ]) {
      expect((await say('PUT', `${path}/steps/1/blobs/${name}`, body, lease)).status).toBe(204);
    }
    expect((await n1.report(claim, {})).status).toBe(200);

    expect((await say('GET', '/v1/asks')).text).toContain(`"schema":${SCHEMA}`);
    const answer = ANSWER.replace('1e1', '15e-1');
    for (const round of [1, 2]) {
      expect((await say('POST', `${path}/steps/2/answer`, answer)).status).toBe(200);
      expect((await say('GET', path)).text).toContain(`"answer":${answer}`);
      expect((await say('GET', `${path}/blobs/verdict`)).text).toBe(answer);
      await n1.work({ exit_code: 2 - round });
    }

    const tar = await fetch(`${server.url}${path}/record`);
    const files = await readTar(Buffer.from(await tar.arrayBuffer()));
    const file = (name: string): string => files.find((one) => one.name.endsWith(name))!.body.toString();
    const flat = (json: string): string => json.replace(/\s+/g, '');
    expect(flat(file('manifest.json'))).toContain(`"contract":${flat(contract)}`);
    // The answer stands at the step, at both its attempts and at both its questions.
    expect(flat(file('2-look.json')).split(`"answer":${flat(answer)}`)).toHaveLength(1 + 4 + 1);
    expect(flat(file('2-look.json')).split(`"schema":${flat(SCHEMA)}`)).toHaveLength(1 + 2);
    await server.send('POST', '/v1/runs/as-queued/cancel');
  });

  it.each([
    ['a key given twice', '"run_id":"a","run_id":"b"', '/run_id'],
    ['a key given twice, deep inside', '"work":{"x":[{"1":1,"2":2,"1":1}]}', '/work/x/0/1'],
    ['an integer that a double does not hold', '"work":{"seed":3544790567247868102}', '/work/seed'],
    ['a number beyond a double', '"work":{"far":1e400}', '/work/far'],
  ])('N1: %s is refused with the pointer', async (_what, member, pointer) => {
    const role = '"requires":[{"as":"x","capability":"board"}],"steps":[{"id":"s","uses":"x","run":["true"]}]';
    for (const path of ['/v1/runs', '/v1/runs/dry-run']) {
      const { status, text } = await say('POST', path, `{${member},${role}}`);
      expect(status).toBe(400);
      const { code, errors } = JSON.parse(text);
      expect({ code, errors }).toEqual({ code: 'invalid_contract', errors: [{ pointer, detail: expect.any(String) }] });
    }
    const inside = `{"node_id":"n9","capabilities":[],"more":{${member}}}`;
    for (const path of ['/v1/nodes', '/v1/runs/x/cancel', '/v1/runs/x/steps/1/result', '/v1/runs/x/steps/1/answer']) {
      const { status, text } = await say('POST', path, inside);
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request', errors: [{ pointer: `/more${pointer}` }] });
    }
  });

  it('N1: the faults of the JSON are listed with those of the contract', async () => {
    const text = '{"requires":[],"requires":[{"as":"x","capability":"B"}],"steps":[],"work":{"n":9007199254740993}}';
    const response = await fetch(`${server.url}/v1/runs`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    const body: any = await response.json();
    const { errors } = expectProblem(
      { status: response.status, headers: response.headers, body },
      400,
      'invalid_contract',
    );
    expect(errors.map(({ pointer }: any) => pointer)).toEqual([
      '/requires',
      '/work/n',
      '/requires/0/capability',
      '/steps',
    ]);
  });
});

describe('N2: a name that JavaScript has a meaning for', () => {
  const server = serverSuite();
  it.each(['constructor', 'prototype', 'valueof', 'hasownproperty'])(
    '%s is an attribute like any other',
    async (name) => {
      const attrs = { [name]: 'x', role: name };
      await server.node(`N-${name}`, [attrs]).advertise();
      const { body } = await server.send('GET', `/v1/nodes`);
      expect(body.items.find((node: any) => node.node_id === `N-${name}`).capabilities[0].attrs).toEqual(attrs);
      const asks = (value: string): Promise<any> => {
        const requires = [{ as: 'a', capability: 'board', attrs: { [name]: value } }];
        return server.send('POST', '/v1/runs', { body: { requires, steps: [{ id: 's', uses: 'a', run: ['true'] }] } });
      };
      expect(await asks('x')).toMatchObject({
        status: 201,
        body: { assigned: [{ nodes: [{ node_id: `N-${name}` }] }] },
      });
      expect((await asks('y')).status).toBe(422);
      const shown = (await server.send('GET', '/v1/capabilities')).body.items[0].attrs;
      expect(Object.hasOwn(shown, name) && shown[name]).toEqual(['x']);
    },
  );

  it.each(['__proto__', 'toString', 'hasOwnProperty'])('%s is no name of an attribute, which is said', async (name) => {
    const { errors } = expectProblem(
      await server.send('POST', '/v1/nodes', {
        body: { node_id: 'P', capabilities: [{ capability: 'board', attrs: JSON.parse(`{"${name}":"x"}`) }] },
      }),
      400,
      'invalid_request',
    );
    expect(errors).toEqual([
      { pointer: '/capabilities/0/attrs', detail: expect.stringContaining('is 1 to 63 characters') },
    ]);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', 'prototype'])(
    '%s is a role, a step, an output with a schema and a log like any other',
    async (name) => {
      const node = server.node(`O-${name}`, [{ role: `o-${name}` }]);
      await node.advertise();
      const body = {
        run_id: `o-${name}`,
        requires: [{ as: name, capability: 'board', attrs: { role: `o-${name}` } }],
        steps: [
          {
            id: name,
            uses: name,
            run: ['true'],
            out: [name],
            schema: { [name]: { type: 'object', required: [name], properties: { [name]: { const: name } } } },
          },
        ],
        success_when: [{ step: name, produced: [name] }],
      };
      expect((await server.send('POST', '/v1/runs', { body })).status).toBe(201);
      const { body: claim } = await node.claim();
      expect(Object.keys(claim.schema)).toEqual([name]);
      const path = `/v1/runs/o-${name}/steps/1`;
      const headers = { 'mediator-lease': claim.lease.nonce };
      expect((await server.send('PUT', `${path}/blobs/${name}`, { headers, body: {} })).status).toBe(422);
      expect((await server.send('PUT', `${path}/blobs/${name}`, { headers, body: { [name]: name } })).status).toBe(204);
      expect((await server.send('PUT', `${path}/log?name=${name}`, { headers, body: 'x' })).status).toBe(204);
      expect((await node.report(claim, { exit_code: 0, produced: [name] })).body.run_state).toBe('SUCCEEDED');
      expect((await server.send('GET', `/v1/runs/o-${name}/record`)).status).toBe(200);
    },
  );
});
