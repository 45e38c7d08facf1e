import { createHmac } from 'node:crypto';
import { createVerifier } from '@payment-service/core';
import { expect, test } from 'vitest';
import { type CheckReport, SandboxRefusal } from '../src/index.ts';
import type { Received } from './support/merchant.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});

type Incoming = Pick<Received, 'method' | 'body'> & { readonly header: string };

/** From now on the endpoint responds with the status that `answer` returns; without one, it does not respond. */
function endpoint(answer: (request: Incoming) => number | undefined): void {
  stage.merchant.answer = (response, { method, headers, body }) => {
    const status = answer({ method, header: String(headers['hmac-signature'] ?? ''), body });
    if (status !== undefined) response.writeHead(status).end();
  };
}

const namesOf = ({ results }: CheckReport, verdict: string): string[] =>
  results.filter((one) => one.verdict === verdict).map(({ name }) => name);
const named = ({ results }: CheckReport, name: string) => results.find((one) => one.name === name);

const REFUSED =
  'wrong_key no_signature changed_status joined_signature uppercase_hex number_field redirect_signature not_json empty_body too_large wrong_method';

test('check(url) of an endpoint that answers 200 to all is red where it must refuse', async () => {
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

test('check(url) of an endpoint that signs the body parsed and serialised again refuses every genuine callback, and is red there', async () => {
  const { signingKey } = stage.sandbox.account;
  endpoint(({ method, header, body }) => {
    if (method !== 'POST') return 405;
    if (body.length > 65_536) return 413;
    if (!body.startsWith('{') || !body.endsWith('}')) return 400;
    const again = JSON.stringify(JSON.parse(body));
    const hash = createHmac('sha256', signingKey).update(again).digest('hex');
    return header.endsWith(`s=${hash}`) ? 200 : 401;
  });
  const report = await stage.sandbox.check();
  const accepted = ['extra_field', 'key_order', 'white_space', 'unknown_event', 'unknown_status'];
  expect(namesOf(report, 'fail')).toEqual(['genuine', 'twice', ...accepted]);
  expect(report.results[0]?.fix).toContain('The endpoint returned 401, but not from paymentCallbacks().');
});

test('check(url) of an endpoint that has a tolerance for t and hides its reasons gets warnings, and the report is not red', async () => {
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
  const fix = expect.stringContaining('Make sure that nothing was credited');
  expect(named(report, 'forged_amount')).toMatchObject({ verdict: 'pass', fix });
});

test('check(url) of an endpoint that gives no answer to the first case, or never answers, ends the check, which says why', async () => {
  const gone = await stage.sandbox.check('http://127.0.0.1:9/callbacks');
  const fix = expect.stringContaining('Nothing listens at this address.');
  const first = { name: 'genuine', status: null, got: 'no answer: ECONNREFUSED', verdict: 'fail', fix };
  expect(gone.results).toMatchObject([first]);
  stage.open({ deliveryTimeoutMs: 20 });
  endpoint(() => undefined);
  const { results } = await stage.sandbox.check();
  expect(results.map(({ got }) => got)).toEqual(['no answer: no answer within 20 ms']);
});

test('check(url) changes no wallet, transaction or delivery, and keeps the newest report', async () => {
  const { url } = stage.merchant;
  const { body } = await stage.call('POST', '/sandbox/check', { callback_url: url });
  expect(body.data['check']).toMatchObject({ url, ok: false });
  expect(await stage.show('/check')).toContain('Signed with another key');
  for (const path of ['transactions', 'deliveries', 'entries'])
    expect(await stage.list(`/sandbox/${path}`)).toEqual([]);
});

test('check(url) refuses addresses that callbacks may not go to, and needs one', async () => {
  const { sandbox } = stage;
  await expect(sandbox.check('http://elsewhere.example/')).rejects.toThrow(SandboxRefusal);
  expect((await stage.call('POST', '/sandbox/check', { callback_url: 7 })).status).toBe(400);
  const without = stage.open({ callbackUrl: undefined });
  await expect(without.check()).rejects.toThrow('callback_url: is required');
});
