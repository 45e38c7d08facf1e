import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as testing from '@payment-service/core/testing';
import { Child } from '@payment-service/durability';
import { afterEach, describe, expect, test } from 'vitest';
import { callbackBodies } from '../src/callback-bodies.ts';
import { checkControls } from '../src/check-controls.ts';
import { type Contender, floor, standardWebhooks, stripe } from '../src/contenders.ts';
import { checkServer, rawRequests } from '../src/http.ts';
import { limit } from '../src/limit.ts';
import type { Load } from '../src/load-generator.ts';
import { merchantReference } from '../src/verify-by-recipe.ts';

const [body = Buffer.alloc(0)] = callbackBodies('typical', testing);
const PEERS = [stripe, standardWebhooks];

describe('the controls of the verification', () => {
  test('they pass a peer that verifies, and the limit of the servers', () => {
    for (const peer of PEERS) checkControls(peer('a key'), peer('another key'), body);
    checkControls(atTheLimit('KEY-OF-THE-SERVER'), atTheLimit('KEY-OF-SOMEONE-ELSE'), body);
  });

  const peer = stripe('a key');
  const silent = {
    ...peer,
    verify: (...given: Parameters<typeof peer.verify>) => void peer.verify(...given),
  };
  test.each([
    [
      'takes any signature',
      floor('a key'),
      floor('another key'),
      'floor: a signature of another key was accepted.',
    ],
    [
      'does not look at the body',
      bodyBlind('a key'),
      bodyBlind('another key'),
      'blind: a body with another merchant_reference was accepted.',
    ],
    [
      'makes no event',
      silent,
      stripe('another key'),
      'stripe: the genuine body gave no event with its reference.',
    ],
    [
      'refuses everything',
      { ...peer, sign: stripe('another key').sign },
      peer,
      'No signatures found matching the expected signature',
    ],
  ])('they stop a contender that %s', (_does, contender, stranger, message) => {
    expect(() => checkControls(contender, stranger, body)).toThrow(message);
  });
});

describe('the controls of the servers', () => {
  const [genuine] = rawRequests(testing, 'KEY-OF-THE-SERVER');
  const [forged] = rawRequests(testing, 'KEY-OF-SOMEONE-ELSE');
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  async function serve(status: number, answer: string): Promise<number> {
    const server = createServer((_, response) =>
      response.writeHead(status, { 'content-length': answer.length }).end(answer),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }

  test('they pass a bare server, which takes any signature', async () => {
    await checkServer('bare', await serve(200, '{"status":"accepted"}'), true, genuine, forged);
  });

  test('they stop a server that checks nothing', async () => {
    const port = await serve(200, '{"status":"accepted"}');
    await expect(checkServer('ours', port, false, genuine, forged)).rejects.toThrow(
      'ours: a signature of another key was answered 200.',
    );
  });

  test('they stop a server that refuses everything', async () => {
    const port = await serve(401, '{"error":"unauthorized"}');
    await expect(checkServer('ours', port, false, genuine, forged)).rejects.toThrow(
      'ours: a genuine callback was answered 401 {"error":"unauthorized"}.',
    );
  });

  test('they stop a server whose answer differs from that of the others', async () => {
    const port = await serve(200, '{}');
    await expect(checkServer('ours', port, false, genuine, forged)).rejects.toThrow(
      'ours: a genuine callback was answered 200 {}.',
    );
  });

  test('the load generator counts every request and stops at an answer that is not 200', async () => {
    const generator = new Child(join(import.meta.dirname, '..', 'src', 'load-generator.ts'));
    closers.push(() => generator.end());
    const load = { requests: [genuine], connections: 2, warmUpMs: 1, ms: 20 };
    let seen = 0;
    const counting = createServer((_, response) => {
      seen++;
      response.setHeader('content-length', 2).end('{}');
    });
    await new Promise<void>((resolve) => counting.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => counting.close(resolve)));
    const { port } = counting.address() as AddressInfo;
    const { answered } = await generator.ask<Load>({ ...load, port });
    expect(answered).toBe(seen);
    await expect(generator.ask({ ...load, port: await serve(500, '{}') })).rejects.toThrow(
      'Answered HTTP/1.1 500',
    );
  });
});

function atTheLimit(signingKey: string): Contender {
  const isGenuine = limit(signingKey);
  return {
    name: 'limit',
    call: '',
    sign: (given) => ({ signature: testing.signCallback({ signingKey, data: JSON.parse(String(given)) }) }),
    verify(given, headers) {
      if (!isGenuine(given, headers['signature'])) throw new Error('The signature does not match.');
      return merchantReference(JSON.parse(String(given)));
    },
  };
}

/** Checks a signature, but only over a constant. */
function bodyBlind(signingKey: string): Contender {
  const signature = createHmac('sha256', signingKey).update('constant').digest('hex');
  return {
    name: 'blind',
    call: '',
    sign: () => ({ signature }),
    verify(given, headers) {
      if (headers['signature'] !== signature) throw new Error('The signature does not match.');
      return JSON.parse(given.toString('utf8')).payload.merchant_reference;
    },
  };
}
