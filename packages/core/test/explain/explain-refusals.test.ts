import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { explainRefusals } from '../../src/explain/index.ts';
import type { RefusalCode } from '../../src/index.ts';
import type { IncomingCallback, RefusedRequest } from '../../src/receive/index.ts';
import { parsed, post, received, redirected, unread } from '../incoming.ts';
import { shown } from '../shown.ts';
import { callbackData, HASH, OTHER_KEY, SIGNATURE, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { BODY, hmac, messageOf } from './wrong-signer.ts';

const signed = (hash: string): { readonly 'hmac-signature': string } => ({
  'hmac-signature': `t=${T},s=${hash}`,
});
const unsigned = { 'hmac-signature': '' };
const forged = signed('a'.repeat(64));

/** What the hook prints for a request that core refuses. */
async function printed(request: IncomingCallback): Promise<string[]> {
  const lines: string[] = [];
  const others = [{ id: 'sandbox', key: OTHER_KEY }];
  const onRefused = explainRefusals({ signingKey: SIGNING_KEY, others, log: (text) => lines.push(text) });
  await received(request, { onRefused, onCallback: () => undefined, methods: ['POST', 'PUT'] });
  return lines;
}

const encoded = (encoding: string) => ({ ...signed(HASH), 'content-encoding': encoding });
const cut = post(unread(BODY.slice(0, 99)), { ...signed(HASH), 'content-length': '620' });
const cutGzip = post(unread(gzipSync(BODY).subarray(0, -9)), encoded('gzip'));
const renamed = { ...unsigned, hmac_signature: SIGNATURE };
const body = unread(BODY);
const otherKey = post(parsed(callbackData()), signed(hmac(messageOf(callbackData()), OTHER_KEY)));
const capitals = post(body, signed(HASH.toUpperCase()));
test.each<[what: string, code: RefusalCode, request: IncomingCallback, shows: RegExp]>([
  ['an unread body', 'mismatch', post(body, signed(hmac(BODY))), /signed the body\.\n {2}.*as it arrived/],
  ['a parsed body', 'mismatch', otherKey, /another of your keys.*\n.*"sandbox" that ends in Y0zC/],
  ['a form of the header, without a body', 'signature_malformed', capitals, /upper-case hex/],
  ['a renamed header', 'signature_missing', post(body, renamed), /"hmac_signature"\. There is no body/],
  ['a truncated body', 'body_malformed', cut, /620, but 99/],
  ['gzip that is cut off', 'body_malformed', cutGzip, /not UTF-8|UTF-8 JSON object/],
  ['another method', 'method_not_allowed', post(body, signed(HASH), 'PATCH'), /The method is "PATCH"/],
  ['a PUT to a route that takes it', 'mismatch', post(body, signed(hmac(BODY)), 'PUT'), /signed the body/],
  ['another encoding', 'encoding_unsupported', post(body, encoded('br')), /gzip and deflate/],
])('explainRefusals() says why %s is refused', async (_what, code, request, shows) => {
  const lines = await printed(request);
  expect(lines).toEqual([expect.stringMatching(shows)]);
  expect(lines[0]).toContain(`(${code})`);
});

test('explainRefusals() prints nothing for a callback that verifies', async () => {
  expect(await printed(post(unread(BODY)))).toEqual([]);
});

test('explainRefusals() prints the hint of a redirect, and to the console unless told otherwise', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  await redirected({ onRefused: explainRefusals({ signingKey: SIGNING_KEY }) }, '/return');
  const hint = expect.stringMatching(/signature_missing.*\n.*hmac-signature .* is missing/);
  expect(warn.mock.calls).toEqual([[hint]]);
});

/** What `onRefused` receives in addition to the refusal. */
async function refused(request: IncomingCallback): Promise<RefusedRequest | undefined> {
  const onRefused = vi.fn<(refusal: unknown, request?: RefusedRequest) => void>();
  await received(request, { onRefused });
  expect(onRefused).toHaveBeenCalledOnce();
  return onRefused.mock.calls[0]?.[1];
}

test('threat A23: a refused request passes headers and the body to code, but never to a log', async () => {
  const request = await refused(post(unread(BODY), { ...forged, 'x-twice': ['one', 'two'] }));
  expect(request?.method).toBe('POST');
  expect(request?.header('x-twice')).toBe('one, two');
  expect(request?.header('x-none')).toBeUndefined();
  expect(new TextDecoder().decode(request?.body() as Uint8Array)).toBe(BODY);
  expect(shown(request)).toContain('POST');
  for (const secret of ['aaaa', 'ORD-1001', 'Example Customer', 'one, two'])
    expect(shown(request)).not.toContain(secret);
});
