import { createHmac, timingSafeEqual } from 'node:crypto';
import { createVerifier } from '@payment-service/core';
import { createClient } from '@payment-service/core/client';
import {
  BODIES,
  ERRORS,
  HEADERS,
  PROVIDERS,
  QUERIES,
  type Shape,
  SIGNATURE,
  SIGNING_KEY,
  WALLETS,
} from './grammar.ts';

/** An input that a sender controls: what any receiver of it does, and what we do. */
export interface Channel {
  readonly name: string;
  readonly shapes: readonly Shape[];
  /** Each twice the one before. */
  readonly sizes: readonly number[];
  /** The decoding that no receiver can leave out. */
  readonly floor: (input: Input) => unknown;
  readonly own: (input: Input) => unknown;
}

export interface Input {
  readonly text: string;
  readonly bytes: Uint8Array;
}

const verifier = createVerifier({ signingKey: SIGNING_KEY });
const decoder = new TextDecoder('utf-8', { fatal: true });
const small = Buffer.from(JSON.stringify({ event: 'x', payload: {} }));

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** The digest that any receiver computes before it can refuse a signature. */
function digest(): boolean {
  const own = createHmac('sha256', SIGNING_KEY).update('a:b:c:d:e').digest();
  return timingSafeEqual(own, own);
}

let served: { readonly body: Uint8Array; readonly status: number } = { body: new Uint8Array(), status: 200 };
const serve = async (): Promise<Response> =>
  new Response(Buffer.from(served.body), { status: served.status });
const client = createClient({
  baseUrl: 'https://service.example',
  publicKey: 'PublicKeyOfTheCostRun1',
  secretKey: 'SecretKeyOfTheCostRun2',
  maxAttempts: 1,
  onDeviation: () => undefined,
  fetch: serve,
});

/** Any client reads the body and parses it. */
async function received({ bytes }: Input, code: number): Promise<unknown> {
  served = { body: bytes, status: code };
  const response = await serve();
  return parsed(new Uint8Array(await response.arrayBuffer()));
}

async function called({ bytes }: Input, code: number, call: () => Promise<unknown>): Promise<unknown> {
  served = { body: bytes, status: code };
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

type Described = readonly [
  name: string,
  shapes: readonly Shape[],
  largest: number,
  floor: Channel['floor'],
  own: Channel['own'],
];

function response(
  name: string,
  shapes: readonly Shape[],
  code: number,
  call: () => Promise<unknown>,
): Described {
  const floor = (input: Input): unknown => received(input, code);
  return [`response with ${name}`, shapes, 512_000, floor, (input) => called(input, code, call)];
}

const CHANNELS: readonly Described[] = [
  [
    'body of a callback',
    BODIES,
    64_000,
    ({ bytes }) => parsed(bytes),
    ({ bytes }) => verifier.verifyCallback({ signature: SIGNATURE, body: bytes }),
  ],
  [
    'query of a redirect',
    QUERIES,
    // The largest that is read at all, with the genuine parameters in front of it.
    7400,
    ({ text }) => [[...new URLSearchParams(text)], digest()],
    ({ text }) => verifier.verifyRedirect(text),
  ],
  [
    'signature header',
    HEADERS,
    16_000,
    ({ text }) => [text.split(',').map((part) => part.split('=')), parsed(small), digest()],
    ({ text }) => verifier.verifyCallback({ signature: text, body: small }),
  ],
  response('providers', PROVIDERS, 200, () => client.listPaymentProviders()),
  response('balances', WALLETS, 200, () => client.getWalletBalances()),
  response('an error', ERRORS, 500, () => client.listPaymentProviders()),
];

/**
 * @param isShort every eighth shape only.
 * @param count how many sizes, from the largest.
 */
export function channels(isShort: boolean, count: number): readonly Channel[] {
  return CHANNELS.map(([name, shapes, largest, floor, own]) => ({
    name,
    shapes: isShort ? shapes.filter((_, index) => index % 8 === 0) : shapes,
    sizes: Array.from({ length: count }, (_, index) => largest / 2 ** (count - 1 - index)),
    floor,
    own,
  }));
}

/** Control: the query parser of the first version, which copies a list for every parameter and has no limit. */
export function quadraticQuery(text: string): unknown {
  const raw: Record<string, string[]> = {};
  for (const part of text.slice(1).split('&')) {
    const [name = '', value = ''] = part.split('=');
    raw[name] = [raw[name] ?? [], value].flat();
  }
  return raw;
}
