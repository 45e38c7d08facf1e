import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { explainRefusals } from '../../src/explain/index.ts';
import type { RefusalCode } from '../../src/index.ts';
import type { IncomingCallback, RefusedRequest } from '../../src/receive/index.ts';
import { parsed, post, received, redirected, unread } from '../incoming.ts';
import { callbackData, HASH, OTHER_KEY, SIGNATURE, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { BODY, hmac, messageOf } from './wrong-signer.ts';

const signed = (hash: string): { readonly 'hmac-signature': string } => ({
  'hmac-signature': `t=${T},s=${hash}`,
});

/** What the hook prints for a request that core refuses. */
async function printed(request: IncomingCallback, keys = {}): Promise<string[]> {
  const lines: string[] = [];
  const onRefused = explainRefusals({ signingKey: SIGNING_KEY, ...keys, log: (text) => lines.push(text) });
  await received(request, { onRefused, onCallback: () => undefined });
  return lines;
}

const [upper, other] = [signed(HASH.toUpperCase()), signed(hmac(messageOf(callbackData()), OTHER_KEY))];
const encoded = (encoding: string) => ({ ...signed(HASH), 'content-encoding': encoding });
const renamed = { 'hmac-signature': '', hmac_signature: SIGNATURE };
const cut = post(unread(BODY.slice(0, 99)), { ...signed(HASH), 'content-length': '620' });
const body = unread(BODY);
const cutGzip = gzipSync(BODY).subarray(0, -9);
test.each<[what: string, code: RefusalCode, request: IncomingCallback, shows: RegExp]>([
  ['an unread body', 'mismatch', post(body, signed(hmac(BODY))), /signed the body\.\n {2}.*as it arrived/],
  [
    'a parsed body',
    'mismatch',
    post(parsed(callbackData()), other),
    /another of your keys.*\n.*"sandbox" that ends in Y0zC/,
  ],
  ['a form of the header, without a body', 'signature_malformed', post(body, upper), /upper-case hex/],
  ['a renamed header', 'signature_missing', post(body, renamed), /"hmac_signature"\. There is no body/],
  ['a truncated body', 'body_malformed', cut, /620, but 99/],
  [
    'gzip that is cut off',
    'body_malformed',
    post(unread(cutGzip), encoded('gzip')),
    /not UTF-8|UTF-8 JSON object/,
  ],
  ['another method', 'method_not_allowed', post(body, signed(HASH), 'PUT'), /The method is "PUT"/],
  ['another encoding', 'encoding_unsupported', post(body, encoded('br')), /gzip and deflate/],
])('explainRefusals() says why %s is refused', async (_what, code, request, shows) => {
  const lines = await printed(request, { others: [{ id: 'sandbox', key: OTHER_KEY }] });
  expect(lines).toEqual([expect.stringMatching(shows)]);
  expect(lines[0]).toContain(`(${code})`);
});

test('explainRefusals() prints nothing for a callback that verifies', async () => {
  expect(await printed(post(unread(BODY)))).toEqual([]);
});

test('explainRefusals() prints the hint of a redirect, and to the console unless told otherwise', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  const onRefused = explainRefusals({ signingKey: SIGNING_KEY });
  await redirected({ onRefused }, '/return');
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/signature_missing.*\n.*hmac-signature .* is missing/)],
  ]);
});

/** What `onRefused` receives in addition to the refusal. */
async function refused(request: IncomingCallback): Promise<RefusedRequest | undefined> {
  const requests: (RefusedRequest | undefined)[] = [];
  const onRefused = (_: unknown, one?: RefusedRequest): number => requests.push(one);
  await received(request, { onRefused });
  expect(requests).toHaveLength(1);
  return requests[0];
}

const forged = signed('a'.repeat(64));

test('threat A23: it passes headers and the body to code, but never to a log', async () => {
  const request = await refused(post(unread(BODY), { ...forged, 'x-twice': ['one', 'two'] }));
  expect(request?.method).toBe('POST');
  expect(request?.header('x-twice')).toBe('one, two');
  expect(request?.header('x-none')).toBeUndefined();
  expect(new TextDecoder().decode(request?.body() as Uint8Array)).toBe(BODY);
  const shown = [
    inspect(request, { depth: 20, showHidden: true, getters: true }),
    inspect(request, { depth: 20, customInspect: false, showHidden: true, showProxy: true }),
    JSON.stringify(request),
    inspect({ ...request }),
  ].join('\n');
  expect(shown).toContain('POST');
  for (const secret of ['aaaa', 'ORD-1001', 'Example Customer', 'one, two'])
    expect(shown).not.toContain(secret);
});

test('a parsed body is the result of the parser, and a body that was not read is undefined', async () => {
  const data = callbackData();
  expect((await refused(post(parsed(data), forged)))?.body()).toBe(data);
  expect((await refused(post(unread(BODY), { 'hmac-signature': '' })))?.body()).toBeUndefined();
});

test('an accepted callback costs nothing: its headers are not read again', async () => {
  const names: string[] = [];
  const given = post(unread(BODY));
  const header: IncomingCallback['header'] = (name) => {
    names.push(name);
    return given.header(name);
  };
  const request = { ...given, header };
  const onRefused = vi.fn();
  await received(request, { onRefused, onCallback: () => 1 });
  expect(onRefused).not.toHaveBeenCalled();
  expect(names).toEqual(['hmac-signature', 'content-encoding', 'content-length', 'traceparent']);
});
