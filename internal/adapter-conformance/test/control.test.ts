import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingCallback } from '@payment-service/core/receive';
import { incomingCallback } from '@payment-service/core/receive';
import { describe, expect, it } from 'vitest';
import type { CallbackRoute, Mode, RedirectRoute } from '../src/index.ts';
import { playCallback, playRedirect } from '../src/observation.ts';
import { CALLBACK_SCENARIOS, REDIRECT_SCENARIOS } from '../src/scenarios/index.ts';
import { NodeHttp } from './node-http.ts';

// A suite that nothing can fail proves nothing: each adapter here breaks one rule, and the scenario of that rule must
// fail. That the unbroken one passes all of them is node-http.test.ts.

// Above the hang guard, whose message says more.
const TIMEOUT = { timeout: 60_000 };

type Body = IncomingCallback['body'];

/** An adapter that describes the request wrongly. */
function translating(wrongly: (request: IncomingMessage, parsed: unknown) => IncomingCallback): NodeHttp {
  return Object.assign(new NodeHttp(), { translate: wrongly });
}

function reading(wrongly: (body: Body, request: IncomingMessage) => Body): NodeHttp {
  return translating((request, parsed) => {
    const incoming = incomingCallback(request, parsed);
    return { ...incoming, body: wrongly(incoming.body, request) };
  });
}

async function* decodedChunks(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) yield Buffer.from(Buffer.from(chunk).toString());
}

class WithoutHeaders extends NodeHttp {
  override answer(response: ServerResponse, answer: Parameters<NodeHttp['answer']>[1]): void {
    super.answer(response, { ...answer, headers: { 'content-type': 'application/json; charset=utf-8' } });
  }
}

class Talkative extends NodeHttp {
  override callbacks(route: CallbackRoute): ReturnType<NodeHttp['callbacks']> {
    let code = '';
    const onRefused = (refusal: { code: string }): void => {
      code = refusal.code;
      route.options.onRefused?.(refusal as never);
    };
    this.answer = (response, answer) => {
      const body = answer.status === 401 ? JSON.stringify({ error: code }) : answer.body;
      super.answer(response, { ...answer, body });
    };
    return super.callbacks({ ...route, options: { ...route.options, onRefused } });
  }
}

class Hasty extends NodeHttp {
  override callbacks(route: CallbackRoute): ReturnType<NodeHttp['callbacks']> {
    const { onCallback, ...options } = route.options;
    const onHurry = (callback: Parameters<NonNullable<typeof onCallback>>[0]): void => {
      Promise.resolve(onCallback?.(callback)).catch(() => undefined);
    };
    return super.callbacks({ ...route, options: { ...options, onCallback: onHurry } });
  }
}

class HandsOnEverything extends NodeHttp {
  override answer(response: ServerResponse): void {
    response.statusCode = 202;
    response.setHeader('content-type', 'text/plain');
    response.end('handed on');
  }
}

class WithoutPrivacy extends NodeHttp {
  override async handOn(response: ServerResponse, handle: () => Promise<string>): Promise<void> {
    response.removeHeader('referrer-policy');
    await super.handOn(response, handle);
  }
}

class ReadsTheQueryFirst extends NodeHttp {
  override redirects(route: RedirectRoute): ReturnType<NodeHttp['redirects']> {
    this.target = (request) => {
      const { searchParams } = new URL(request.url ?? '', 'http://shop.example');
      return `/?${new URLSearchParams(Object.fromEntries(searchParams))}`;
    };
    return super.redirects(route);
  }
}

const CALLBACK_FAULTS: readonly [fault: string, adapter: () => NodeHttp, mode: Mode, mustFail: string][] = [
  [
    'forgets the parsed body',
    () => translating((request) => incomingCallback(request)),
    'handler',
    'a parser mounted before that keeps json: verifies',
  ],
  [
    'takes headers that node:http has joined',
    () =>
      translating((request, parsed) => ({
        ...incomingCallback(request, parsed),
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const),
      })),
    'handler',
    'a repeated content-type header is refused',
  ],
  [
    'takes the last of repeated headers',
    () =>
      translating((request, parsed) => {
        const incoming = incomingCallback(request, parsed);
        return { ...incoming, headers: new Map(incoming.headers) };
      }),
    'hand-on',
    'threat A12: a repeated header is refused',
  ],
  [
    'says unread of a consumed body',
    () => reading((_body, request) => ({ state: 'unread', stream: request })),
    'hand-on',
    'a body read to its end and not kept is an error at once, which says what to mount where',
  ],
  [
    'decodes chunk by chunk',
    () =>
      reading((body) => (body.state === 'unread' ? { ...body, stream: decodedChunks(body.stream) } : body)),
    'handler',
    'a chunked body, split inside multi-byte characters, arrives whole',
  ],
  [
    'drops the headers of an answer',
    () => new WithoutHeaders(),
    'handler',
    'PUT is refused, and POST is named',
  ],
  ['tells the sender why', () => new Talkative(), 'handler', 'another key is refused'],
  [
    'answers before the handler has resolved',
    () => new Hasty(),
    'handler',
    'no answer is given before the handler has resolved',
  ],
  [
    'loses the error of a handler',
    () => new Hasty(),
    'handler',
    'a handler that rejects: failureStatus, and the error reaches onError only',
  ],
  ['hands refused callbacks on', () => new HandsOnEverything(), 'hand-on', 'another key is refused'],
];

const REDIRECT_FAULTS: readonly [fault: string, adapter: () => NodeHttp, mode: Mode, mustFail: string][] = [
  [
    "lets the framework's parser decide on repeated names",
    () => new ReadsTheQueryFirst(),
    'handler',
    'threat A14: a signed name that stands twice, the first time with another value is refused',
  ],
  [
    "lets the framework's parser mend bad escapes",
    () => new ReadsTheQueryFirst(),
    'handler',
    'threat A15: a percent escape that is not UTF-8 is refused',
  ],
  ['forgets referrer-policy when it hands on', () => new WithoutPrivacy(), 'hand-on', 'flat names verify'],
  ['drops the location', () => new WithoutHeaders(), 'handler', 'flat names verify'],
  ['hands refused redirects on', () => new HandsOnEverything(), 'hand-on', 'another key is refused'],
];

function named<T extends { name: string }>(domains: Readonly<Record<string, readonly T[]>>, name: string): T {
  const found = Object.values(domains)
    .flat()
    .find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`There is no scenario "${name}".`);
  return found;
}

describe('the suite notices an adapter that', () => {
  it.each(CALLBACK_FAULTS)('%s', TIMEOUT, async (_fault, adapter, mode, mustFail) => {
    const scenario = named(CALLBACK_SCENARIOS, mustFail);
    await expect(playCallback(adapter(), scenario, mode)).rejects.toThrow();
    await expect(playCallback(new NodeHttp(), scenario, mode)).resolves.toBeUndefined();
  });

  it.each(REDIRECT_FAULTS)('%s', TIMEOUT, async (_fault, adapter, mode, mustFail) => {
    const scenario = named(REDIRECT_SCENARIOS, mustFail);
    await expect(playRedirect(adapter(), scenario, mode)).rejects.toThrow();
    await expect(playRedirect(new NodeHttp(), scenario, mode)).resolves.toBeUndefined();
  });
});

it('gives every scenario a name of its own', () => {
  const callbacks = Object.values(CALLBACK_SCENARIOS).flat();
  const redirects = Object.values(REDIRECT_SCENARIOS).flat();
  for (const names of [callbacks.map(({ name }) => name), redirects.map(({ name }) => name)]) {
    expect(new Set(names).size).toBe(names.length);
  }
});
