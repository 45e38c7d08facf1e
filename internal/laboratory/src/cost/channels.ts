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
  /** How many times the floor it may take. */
  readonly bound: number;
  /** Why it may take more than 1.5. */
  readonly reason?: string;
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

const status = { ok: 200, failed: 500 };
let served: { readonly body: Uint8Array; readonly status: number } = {
  body: new Uint8Array(),
  status: status.ok,
};
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

const BOUND = 1.5;

/**
 * @param isShort every fourth shape only.
 * @param count how many sizes, from the largest.
 */
export function channels(isShort: boolean, count: number): readonly Channel[] {
  const doubled = (most: number): number[] =>
    Array.from({ length: count }, (_, index) => most / 2 ** (count - 1 - index));
  const all: readonly Channel[] = [
    {
      name: 'body of a callback',
      shapes: BODIES,
      sizes: doubled(64_000),
      floor: ({ bytes }) => parsed(bytes),
      own: ({ bytes }) => verifier.verifyCallback({ signature: SIGNATURE, body: bytes }),
      bound: BOUND,
    },
    {
      name: 'query of a redirect',
      shapes: QUERIES,
      // The largest that is read at all, with the genuine parameters in front of it.
      sizes: doubled(7400),
      floor: ({ text }) => [[...new URLSearchParams(text)], digest()],
      own: ({ text }) => verifier.verifyRedirect(text),
      bound: BOUND,
    },
    {
      name: 'signature header',
      shapes: HEADERS,
      sizes: doubled(16_000),
      floor: ({ text }) => [text.split(',').map((part) => part.split('=')), parsed(small), digest()],
      own: ({ text }) => verifier.verifyCallback({ signature: text, body: small }),
      bound: BOUND,
    },
    {
      name: 'response with providers',
      shapes: PROVIDERS,
      sizes: doubled(512_000),
      floor: (input) => received(input, status.ok),
      own: (input) => called(input, status.ok, () => client.listPaymentProviders()),
      bound: BOUND,
    },
    {
      name: 'response with balances',
      shapes: WALLETS,
      sizes: doubled(512_000),
      floor: (input) => received(input, status.ok),
      own: (input) => called(input, status.ok, () => client.getWalletBalances()),
      bound: BOUND,
    },
    {
      name: 'response with an error',
      shapes: ERRORS,
      sizes: doubled(512_000),
      floor: (input) => received(input, status.failed),
      own: (input) => called(input, status.failed, () => client.listPaymentProviders()),
      bound: BOUND,
    },
  ];
  return isShort
    ? all.map((one) => ({ ...one, shapes: one.shapes.filter((_, index) => index % 4 === 0) }))
    : all;
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
