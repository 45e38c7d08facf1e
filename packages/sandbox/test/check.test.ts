import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createVerifier } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { type CheckReport, SandboxRefusal } from '../src/index.ts';
import type { Received } from './support/merchant.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});

type Incoming = Pick<Received, 'method' | 'body'> & { readonly header: string };

/** From now on the endpoint responds with the status that `answer` returns; without one, it does not respond. */
function endpoint(answer: (request: Incoming, response: ServerResponse) => number | undefined): void {
  stage.merchant.answer = (response, { method, headers, body }) => {
    const header = String(headers['hmac-signature'] ?? '');
    const status = answer({ method, header, body }, response);
    if (status !== undefined) response.writeHead(status).end();
  };
}

/** The response of an endpoint whose only fault is how it checks a signature. */
function answerTo({ method, body }: Incoming, isAccepted: () => boolean): number {
  if (method !== 'POST') return 405;
  if (body.length > 65_536) return 413;
  if (!body.startsWith('{') || !body.endsWith('}')) return 400;
  return isAccepted() ? 200 : 401;
}

const namesOf = ({ results }: CheckReport, verdict: string): string[] =>
  results.filter((one) => one.verdict === verdict).map(({ name }) => name);
const named = ({ results }: CheckReport, name: string) => results.find((one) => one.name === name);

/** The hash of a header as naive code reads it: the last of two equal names counts. */
const isSigned = (text: string, header: string): boolean => {
  const { signingKey } = stage.sandbox.account;
  const parts = Object.fromEntries(header.split(',').map((part) => part.trim().split('=')));
  return createHmac('sha256', signingKey).update(text).digest('hex') === parts['s'];
};

/** The five fields joined as in naive code, whatever their types are. */
function joined(body: string): string {
  const { event, payload } = JSON.parse(body);
  const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
  return `${event}:${merchant_reference}:${internal_reference}:${transaction_type}:${transaction_status}`;
}

const REFUSED =
  'wrong_key no_signature changed_status joined_signature uppercase_hex number_field redirect_signature not_json empty_body too_large wrong_method';

describe('check(url) of an endpoint', () => {
  test('that answers 200 to all is red where it must refuse', async () => {
    endpoint(() => 200);
    const { url } = stage.merchant;
    const report = await stage.sandbox.check();
    expect(namesOf(report, 'fail')).toEqual(REFUSED.split(' '));
    expect([report.ok, report.url, stage.merchant.received.length]).toEqual([false, url, 22]);
    expect(report.results[10]).toMatchObject({
      name: 'wrong_key',
      title: 'Signed with another key',
      expected: '400, 401 or 403',
      got: '200',
      verdict: 'fail',
      fix: expect.stringMatching(/^Verify the signature before anything else/),
    });
    // The second callback repeats the first one, and every other one has its own references.
    const references = stage.merchant.received.slice(0, 3).map(({ data }) => data.payload.merchant_reference);
    expect([references[0] === references[1], references[1] === references[2]]).toEqual([true, false]);
  });

  test('that signs the body parsed and serialised again refuses every genuine callback, and is red there', async () => {
    endpoint((request) =>
      answerTo(request, () => isSigned(JSON.stringify(JSON.parse(request.body)), request.header)),
    );
    const report = await stage.sandbox.check();
    const accepted = ['extra_field', 'key_order', 'white_space', 'unknown_event', 'unknown_status'];
    expect(namesOf(report, 'fail')).toEqual(['genuine', 'twice', ...accepted]);
    expect(report.results[0]?.fix).toContain('The endpoint returned 401, but not from paymentCallbacks().');
  });

  test('that joins the five fields and compares with === is red where two readings share a signature', async () => {
    endpoint((request) => answerTo(request, () => isSigned(joined(request.body), request.header)));
    const report = await stage.sandbox.check();
    expect(namesOf(report, 'fail')).toEqual(['joined_signature', 'number_field']);
    expect(namesOf(report, 'warn')).toEqual(['moved_colon']);
  });

  test('that has a tolerance for t and hides its reasons gets warnings, and the report is not red', async () => {
    const { signingKey } = stage.sandbox.account;
    const verifier = createVerifier({ signingKey, toleranceSeconds: 30 });
    endpoint(({ method, header: signature, body }) => {
      if (method !== 'POST') return 302;
      if (body.length > 65_536) return 429;
      return verifier.verifyCallback({ signature, body }).ok ? 204 : 401;
    });
    const report = await stage.sandbox.check();
    expect([namesOf(report, 'fail'), report.ok]).toEqual([[], true]);
    expect(namesOf(report, 'warn')).toEqual(['old_t', 'too_large', 'wrong_method']);
    const fix = expect.stringContaining('Make sure that it credited nothing');
    expect(named(report, 'forged_amount')).toMatchObject({ verdict: 'pass', fix });
  });

  test('that gives no answer to the first case, or never answers, ends the check, which says why', async () => {
    stage.open({ deliveryTimeoutMs: 20 });
    endpoint(() => undefined);
    const gone = await stage.sandbox.check('http://127.0.0.1:9/callbacks');
    const fix = expect.stringContaining('Nothing listens at this address.');
    const first = { name: 'genuine', status: null, got: 'no answer: ECONNREFUSED', verdict: 'fail', fix };
    expect(gone.results).toMatchObject([first]);
    const { results } = await stage.sandbox.check();
    expect(results.map(({ got }) => got)).toEqual(['no answer: no answer within 20 ms']);
  });

  test('that breaks off is explained, and may do so while a body is sent that is too long', async () => {
    endpoint(({ body }, response) => {
      if (body.endsWith('}') && body.length <= 65_536) return 401;
      response.destroy();
      return undefined;
    });
    const report = await stage.sandbox.check();
    const fix = expect.stringContaining('The connection broke before the response.');
    expect(named(report, 'not_json')).toMatchObject({ status: null, verdict: 'fail', fix });
    expect(named(report, 'too_large')).toMatchObject({ status: null, verdict: 'pass' });
  });
});

describe('check(url)', () => {
  test('uses an injected fetch, for GET as well', async () => {
    const seen: string[] = [];
    const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init);
      seen.push(`${request.method} ${(await request.text()).length > 0}`);
      return new Response(null, { status: 200 });
    };
    expect((await stage.open({ fetch }).check()).results).toHaveLength(22);
    expect([seen[0], seen.at(-1)]).toEqual(['POST true', 'GET false']);
  });

  test('changes no wallet, transaction or delivery, and keeps the newest report', async () => {
    const { url } = stage.merchant;
    const { body } = await stage.call('POST', '/sandbox/check', { callback_url: url });
    expect(body.data['check']).toMatchObject({ url, ok: false });
    expect(await stage.show('/check')).toContain('Signed with another key');
    for (const path of ['transactions', 'deliveries', 'entries'])
      expect(await stage.list(`/sandbox/${path}`)).toEqual([]);
  });

  test('refuses addresses that callbacks may not go to, and needs one', async () => {
    const { sandbox } = stage;
    await expect(sandbox.check('http://elsewhere.example/')).rejects.toThrow(SandboxRefusal);
    expect((await stage.call('POST', '/sandbox/check', { callback_url: 7 })).status).toBe(400);
    const without = stage.open({ callbackUrl: undefined });
    await expect(without.check()).rejects.toThrow('callback_url: is required');
  });

  test('ends when the sandbox is closed', async () => {
    endpoint(() => {
      void stage.sandbox.close();
      return 200;
    });
    await expect(stage.sandbox.check()).rejects.toThrow('aborted');
  });
});
