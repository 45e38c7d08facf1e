import { createHmac, timingSafeEqual } from 'node:crypto';
import { createVerifier } from '@payment-service/core';
import { createClient } from '@payment-service/core/client';
import {
  BODIES,
  ERRORS,
  HEADERS,
  PROVIDERS,
  QUERIES,
  type Shapes,
  SIGNATURE,
  SIGNING_KEY,
  WALLETS,
} from './grammar.ts';

/** An input that a sender controls: the work of any receiver, and our own. */
export interface Channel {
  readonly name: string;
  readonly shapes: Shapes;
  /** In characters. */
  readonly largest: number;
  /** The decoding that every receiver must do. */
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

/** Every client reads the body and parses it. */
function response(name: string, shapes: Shapes, status: number, call: () => Promise<unknown>): Channel {
  return {
    name: `response with ${name}`,
    shapes,
    largest: 512_000,
    async floor({ bytes }) {
      served = { body: bytes, status };
      return parsed(new Uint8Array(await (await serve()).arrayBuffer()));
    },
    own({ bytes }) {
      served = { body: bytes, status };
      return call().catch((error: unknown) => error);
    },
  };
}

export const CHANNELS: readonly Channel[] = [
  {
    name: 'body of a callback',
    shapes: BODIES,
    largest: 64_000,
    floor: ({ bytes }) => parsed(bytes),
    own: ({ bytes }) => verifier.verifyCallback({ signature: SIGNATURE, body: bytes }),
  },
  {
    name: 'query of a redirect',
    shapes: QUERIES,
    // The maximum that is read at all, with the genuine parameters in front.
    largest: 7400,
    floor: ({ text }) => [[...new URLSearchParams(text)], digest()],
    own: ({ text }) => verifier.verifyRedirect(text),
  },
  {
    name: 'signature header',
    shapes: HEADERS,
    largest: 16_000,
    floor: ({ text }) => [text.split(',').map((part) => part.split('=')), parsed(small), digest()],
    own: ({ text }) => verifier.verifyCallback({ signature: text, body: small }),
  },
  response('providers', PROVIDERS, 200, () => client.listPaymentProviders()),
  response('balances', WALLETS, 200, () => client.getWalletBalances()),
  response('an error', ERRORS, 500, () => client.listPaymentProviders()),
];

/** Control: the query parser of the first version, which copies a list for every parameter and has no limit. */
export function quadraticQuery(text: string): unknown {
  const raw: Record<string, string[]> = {};
  for (const part of text.slice(1).split('&')) {
    const [name = '', value = ''] = part.split('=');
    raw[name] = [raw[name] ?? [], value].flat();
  }
  return raw;
}
