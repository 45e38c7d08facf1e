import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as testing from '@payment-service/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callbackBodies } from '../src/callback-bodies.ts';
import { type Contender, checkControls, floor, standardWebhooks, stripe } from '../src/contenders.ts';
import { checkServer } from '../src/http.ts';

const [body = Buffer.alloc(0)] = callbackBodies('typical', testing);
const PEERS = [stripe, standardWebhooks];

describe('the controls of the verification', () => {
  test('they pass a peer that verifies', () => {
    for (const peer of PEERS) checkControls(peer('a key'), peer('another key'), body);
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

test.each([
  ['pass a bare server, which takes any signature', 200, true, undefined],
  ['stop a server that checks nothing', 200, false, 'were answered 200 and 200'],
  ['stop a server that refuses everything', 401, false, 'were answered 401 and 401'],
])('the controls of the servers: they %s', async (_, status, isBare, message) => {
  const server = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const checked = checkServer('ours', (server.address() as AddressInfo).port, isBare);
  if (message === undefined) await checked;
  else await expect(checked).rejects.toThrow(message);
});

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
