import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createVerifier } from '@payment-service/core';
import { afterEach, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox, SandboxRefusal } from '../src/index.ts';
import type { CheckReport } from '../src/state/records.ts';
import { call } from './support/api.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Incoming {
  readonly method: string;
  readonly header: string;
  readonly body: string;
}

/** An endpoint of a merchant that answers what `answer` says. */
async function startEndpoint(
  answer: (request: Incoming, response: ServerResponse) => number | undefined,
): Promise<string> {
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method = '', headers } = request;
    const status = answer({ method, header: String(headers['hmac-signature'] ?? ''), body }, response);
    if (status !== undefined) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`;
}

function open(options: Parameters<typeof createSandbox>[0] = {}): Sandbox {
  const sandbox = createSandbox(options);
  closing.push(() => sandbox.close());
  return sandbox;
}

const namesOf = ({ results }: CheckReport, verdict: string): string[] =>
  results.filter((one) => one.verdict === verdict).map(({ name }) => name);

const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** The parts of a signature as hand-written code reads them: the last one of two equal names counts. */
const partsOf = (header: string): Record<string, string> =>
  Object.fromEntries(header.split(',').map((part) => part.trim().split('=')));

/** The five fields joined as hand-written code does, whatever their types are. */
function joined(body: string): string {
  const { event, payload } = JSON.parse(body);
  const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
  return `${event}:${merchant_reference}:${internal_reference}:${transaction_type}:${transaction_status}`;
}

const REFUSED = [
  'wrong_key',
  'no_signature',
  'changed_status',
  'joined_signature',
  'uppercase_hex',
  'number_field',
  'redirect_signature',
  'not_json',
  'empty_body',
  'too_large',
  'wrong_method',
];

describe('check(url)', () => {
  test('an endpoint that compares with === and the signature of the body parsed and serialised again, and answers 200 to all, is red where it must refuse', async () => {
    const sandbox = open();
    const { signingKey } = sandbox.account;
    const refused: string[] = [];
    const url = await startEndpoint(({ header, body }) => {
      const again =
        body.startsWith('{"event"') && body.endsWith('}') ? JSON.stringify(JSON.parse(body)) : body;
      if (hmac(signingKey, again) !== partsOf(header)['s']) refused.push('logged, and accepted');
      return 200;
    });
    const report = await sandbox.check(url);
    expect(namesOf(report, 'fail')).toEqual(REFUSED);
    expect([report.ok, report.url, refused.length]).toEqual([false, url, 22]);
    expect(report.results[10]).toMatchObject({
      name: 'wrong_key',
      title: 'Signed with another key',
      expected: '400, 401 or 403',
      got: '200',
      verdict: 'fail',
      fix: expect.stringMatching(/^Verify the signature before anything else/),
    });
  });

  test('an endpoint that signs the body parsed and serialised again refuses every genuine callback, and is red there', async () => {
    const sandbox = open();
    const url = await startEndpoint(({ header, body }) => {
      if (body === '' || !body.endsWith('}')) return 400;
      if (body.length > 65_536) return 413;
      return body.startsWith('{') &&
        hmac(sandbox.account.signingKey, JSON.stringify(JSON.parse(body))) === partsOf(header)['s']
        ? 200
        : 401;
    });
    const report = await sandbox.check(url);
    expect(namesOf(report, 'fail')).toEqual([
      'genuine',
      'twice',
      'extra_field',
      'key_order',
      'white_space',
      'unknown_event',
      'unknown_status',
    ]);
    expect(report.results[0]?.fix).toContain('The endpoint returned 401, but not from paymentCallbacks().');
  });

  test('an endpoint that joins the five fields and compares with === is red where two readings share a signature', async () => {
    const sandbox = open();
    const url = await startEndpoint(({ method, header, body }) => {
      if (method !== 'POST') return 405;
      if (body.length > 65_536) return 413;
      if (!body.startsWith('{') || !body.endsWith('}')) return 400;
      return hmac(sandbox.account.signingKey, joined(body)) === partsOf(header)['s'] ? 200 : 401;
    });
    const report = await sandbox.check(url);
    expect(namesOf(report, 'fail')).toEqual(['joined_signature', 'number_field']);
    expect(namesOf(report, 'warn')).toEqual(['moved_colon']);
  });

  test('a tolerance for t and answers that hide the reason are warnings, and the report is not red', async () => {
    const sandbox = open();
    const verifier = createVerifier({ signingKey: sandbox.account.signingKey, toleranceSeconds: 30 });
    const url = await startEndpoint(({ method, header, body }) => {
      if (method !== 'POST') return 302;
      if (body.length > 65_536) return 429;
      return verifier.verifyCallback({ signature: header, body }).ok ? 204 : 401;
    });
    const report = await sandbox.check(url);
    expect([namesOf(report, 'warn'), namesOf(report, 'fail'), report.ok]).toEqual([
      ['old_t', 'too_large', 'wrong_method'],
      [],
      true,
    ]);
    const { fix, verdict } = report.results.find(({ name }) => name === 'forged_amount') ?? {};
    expect([verdict, fix]).toEqual(['pass', expect.stringContaining('Make sure that it credited nothing')]);
  });

  test('stops and says why if the first case gets no answer', async () => {
    const sandbox = open();
    const report = await sandbox.check('http://127.0.0.1:9/callbacks');
    expect(report.results).toMatchObject([
      {
        name: 'genuine',
        status: null,
        got: 'no answer: ECONNREFUSED',
        verdict: 'fail',
        fix: expect.stringContaining('Nothing listens at this address.'),
      },
    ]);
  });

  test('an endpoint that never answers is given up, and one that breaks off is explained', async () => {
    const sandbox = open({ deliveryTimeoutMs: 20 });
    const silent = await sandbox.check(await startEndpoint(() => undefined));
    expect(silent.results.map(({ got }) => got)).toEqual(['no answer: no answer within 20 ms']);
    const url = await startEndpoint(({ body }, response) => {
      if (!body.endsWith('}')) response.destroy();
      else return 401;
    });
    const broken = await open().check(url);
    expect(broken.results.find(({ name }) => name === 'not_json')).toMatchObject({
      status: null,
      verdict: 'fail',
      fix: expect.stringContaining('The connection broke before the response.'),
    });
    // A server may close the connection while a body is sent that is too long.
    const closed = await open().check(
      await startEndpoint(({ body }, response) => {
        if (body.length > 65_536) response.destroy();
        else return 200;
      }),
    );
    expect(closed.results.find(({ name }) => name === 'too_large')).toMatchObject({ verdict: 'pass' });
  });

  test('uses an injected fetch, for GET as well', async () => {
    const seen: string[] = [];
    const sandbox = open({
      callbackUrl: 'http://127.0.0.1/callbacks',
      fetch: async (input, init) => {
        const request = new Request(input, init);
        seen.push(`${request.method} ${(await request.text()).length > 0}`);
        return new Response(null, { status: 200 });
      },
    });
    expect((await sandbox.check()).results.length).toBe(22);
    expect([seen[0], seen.at(-1)]).toEqual(['POST true', 'GET false']);
  });

  test('changes no wallet, transaction or delivery, and keeps the newest report', async () => {
    const sandbox = open();
    const url = await startEndpoint(() => 200);
    const { body } = await call(sandbox, 'POST', '/sandbox/check', { callback_url: url });
    expect(body.data['check']).toMatchObject({ url, ok: false });
    const text = await (await sandbox.fetch('http://127.0.0.1/check')).text();
    expect(text).toContain('Signed with another key');
    expect((await call(sandbox, 'GET', '/sandbox/transactions')).body.data['transactions']).toEqual([]);
    expect(sandbox.deliveries()).toEqual([]);
  });

  test('refuses addresses that callbacks may not go to, and an empty list of cases', async () => {
    const sandbox = open();
    await expect(sandbox.check('http://elsewhere.example/')).rejects.toThrow(SandboxRefusal);
    await expect(sandbox.check()).rejects.toThrow('callback_url: is required');
    expect((await call(sandbox, 'POST', '/sandbox/check', { callback_url: 7 })).status).toBe(400);
  });

  test('closing the sandbox ends the check', async () => {
    const sandbox = open();
    const url = await startEndpoint(() => {
      void sandbox.close();
      return 200;
    });
    await expect(sandbox.check(url)).rejects.toThrow('aborted');
  });
});
