import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import type { Sandbox } from '@payment-service/sandbox';
import type { Report } from '../programs/merchant.ts';

/** The vectors of the contract are literal: no code of this repository computed their digests. */
interface Vector {
  readonly name: string;
  readonly options: { readonly signing_key: string };
  readonly signature: string;
  readonly body_text: string;
}

const VECTOR = 'header: t then s';
const require = createRequire(import.meta.url);
const { vectors } = JSON.parse(
  readFileSync(require.resolve('@payment-service/openapi/signature-vectors.json'), 'utf8'),
) as { vectors: readonly Vector[] };

/** A genuine callback with its digest written out. */
export const literal: Vector = vectors.find(({ name }) => name === VECTOR) ?? missing();

function missing(): never {
  throw new Error(`openapi/signature-vectors.json has no vector "${VECTOR}".`);
}

/** What a program of the rehearsal must know, as environment variables. */
export function settingsOf(sandbox: Sandbox, sandboxUrl: string, port: number): Record<string, string> {
  const { publicKey, signingKey } = sandbox.account;
  return {
    LITERAL_KEY: literal.options.signing_key,
    PORT: String(port),
    PUBLIC_KEY: publicKey,
    SERVICE_URL: sandboxUrl,
    SIGNING_KEY: signingKey,
  };
}

/**
 * What is wrong with a merchant's program at `url`: a literal genuine callback must be accepted, a forged and an unsigned
 * one refused, a delivery of the sandbox must arrive, and the client must reach the sandbox.
 */
export async function check(url: string, sandbox: Sandbox): Promise<readonly string[]> {
  const problems: string[] = [];
  const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
    if (!isDeepStrictEqual(actual, expected))
      problems.push(`${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  };
  const { body_text: body, signature } = literal;
  const forged = body.replace('ORD-1001', 'ORD-1002');
  const post = (text: string, headers: Record<string, string>): Promise<string> => send(url, text, headers);
  expectEqual('genuine', await post(body, { 'hmac-signature': signature }), '200 {"status":"accepted"}');
  expectEqual('forged', await post(forged, { 'hmac-signature': signature }), '401 {"error":"unauthorized"}');
  expectEqual('unsigned', await post(body, {}), '401 {"error":"unauthorized"}');

  const providers = (await (
    await sandbox.fetch(
      new Request('http://127.0.0.1/data/payment-providers', {
        headers: { 'public-key': sandbox.account.publicKey },
      }),
    )
  ).json()) as { data: { payment_providers: readonly Provider[] } };
  const all = providers.data.payment_providers;
  const provider = all.find(
    (one) => one.transaction_currency === 'UGX' && one.transaction_type.toUpperCase() === 'COLLECTION',
  );
  if (provider === undefined) return [...problems, 'the sandbox has no provider for UGX'];
  sandbox.collect({
    merchant_reference: 'ORD-2001',
    amount: 5000,
    currency: 'UGX',
    provider_code: provider.provider_code,
    account: `${provider.option_prefixes[0]}000001`,
    callback_url: `${url}/callbacks`,
  });
  await sandbox.idle();

  const response = await fetch(`${url}/report`);
  const text = await response.text();
  if (response.status !== 200) return [...problems, `the client: ${response.status} ${text}`];
  const report = JSON.parse(text) as Report;
  // The literal one has no request_amount, so its money cannot be confirmed.
  expectEqual('received', report.received, ['ORD-1001 verified', 'ORD-2001 paid']);
  expectEqual('the client, providers', report.providers, all.length);
  expectEqual('the name of an error', report.error.name, 'ConfigurationError');
  expectEqual('the error is that of core', report.error.isOfCore, true);
  return problems;
}

interface Provider {
  readonly provider_code: string;
  readonly transaction_currency: string;
  readonly transaction_type: string;
  readonly option_prefixes: readonly string[];
}

async function send(url: string, body: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(`${url}/callbacks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return `${response.status} ${await response.text()}`;
}
