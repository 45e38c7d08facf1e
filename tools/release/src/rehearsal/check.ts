import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import type { Sandbox } from '@payment-service/sandbox';

/** The vectors of the contract are literal: no code of this repository computed their digests. */
interface Vector {
  readonly name: string;
  readonly options: { readonly signing_key: string };
  readonly signature: string;
  readonly body_text: string;
}

/** What a program reports: its verified callbacks, the misconfiguration that its adapter throws, and the client's providers. */
interface Report {
  readonly received: readonly string[];
  readonly error: { readonly name: string; readonly isOfCore: boolean };
  readonly providers: readonly string[];
}

const PROVIDER = 'example_mobile_money';
const vectorsPath = createRequire(import.meta.url).resolve('@payment-service/openapi/signature-vectors.json');
const { vectors } = JSON.parse(readFileSync(vectorsPath, 'utf8')) as { vectors: readonly Vector[] };
/** A genuine callback with its digest written out. */
const literal = vectors.find(({ name }) => name === 'header: t then s');

/** What a program of the rehearsal must know, as environment variables. */
export function settingsOf(sandbox: Sandbox, sandboxUrl: string, port: number): Record<string, string> {
  const { publicKey, signingKey } = sandbox.account;
  return {
    HOSTNAME: '127.0.0.1', // For the standalone server of Next.js, which otherwise listens on every address.
    LITERAL_KEY: literal?.options.signing_key ?? '',
    PORT: String(port),
    PUBLIC_KEY: publicKey,
    SERVICE_URL: sandboxUrl,
    SIGNING_KEY: signingKey,
  };
}

/**
 * The problems of a merchant's program at `url`: a literal genuine callback must be accepted, a forged and an unsigned one
 * refused, a delivery of the sandbox must arrive, and the client must reach the sandbox.
 */
export async function check(url: string, sandbox: Sandbox): Promise<readonly string[]> {
  const problems: string[] = [];
  const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
    if (!isDeepStrictEqual(actual, expected))
      problems.push(`${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  };
  const callback_url = `${url}/callbacks`;
  const post = async (body: string, signature: Record<string, string>): Promise<string> => {
    const headers = { 'content-type': 'application/json', ...signature };
    const response = await fetch(callback_url, { method: 'POST', headers, body });
    return `${response.status} ${await response.text()}`;
  };
  const { body_text: body = '', signature = '' } = literal ?? {};
  const signed = { 'hmac-signature': signature };
  const forged = body.replace('ORD-1001', 'ORD-1002');
  expectEqual('genuine', await post(body, signed), '200 {"status":"accepted"}');
  expectEqual('forged', await post(forged, signed), '401 {"error":"unauthorized"}');
  expectEqual('unsigned', await post(body, {}), '401 {"error":"unauthorized"}');

  const payment = { amount: 5000, currency: 'UGX', provider_code: PROVIDER, account: '256772000001' };
  sandbox.collect({ ...payment, merchant_reference: 'ORD-2001', callback_url });
  await sandbox.idle();

  const response = await fetch(`${url}/report`);
  const text = await response.text();
  if (response.status !== 200) return [...problems, `the client: ${response.status} ${text}`];
  const report = JSON.parse(text) as Report;
  // The literal one has no request_amount, so its money cannot be confirmed.
  expectEqual('received', report.received, ['ORD-1001 verified', 'ORD-2001 paid']);
  expectEqual(`the client lists ${PROVIDER}`, report.providers.includes(PROVIDER), true);
  expectEqual('the name of an error', report.error.name, 'ConfigurationError');
  expectEqual('the error is that of core', report.error.isOfCore, true);
  return problems;
}
