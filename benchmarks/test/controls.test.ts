import { createHmac } from 'node:crypto';
import { sampleCallback } from '@payment-service/core/testing';
import { describe, expect, test } from 'vitest';
import { callbackBodies } from '../src/callback-bodies.ts';
import { checkControls } from '../src/check-controls.ts';
import { type Contender, floor, octokit, standardWebhooks, stripe, svix } from '../src/contenders.ts';

const [body = Buffer.alloc(0)] = callbackBodies('typical', { sampleCallback });
const PEERS = [stripe, standardWebhooks, svix, octokit];

describe('the controls bite', () => {
  test('they pass a peer that verifies', async () => {
    for (const peer of PEERS) await checkControls(peer('a key'), peer('another key'), body);
  });

  test('they stop a contender that takes any signature', async () => {
    await expect(checkControls(floor('a key'), floor('another key'), body)).rejects.toThrow(
      'floor: a signature of another key was accepted.',
    );
  });

  test('they stop a contender that does not look at the body', async () => {
    await expect(checkControls(bodyBlind('a key'), bodyBlind('another key'), body)).rejects.toThrow(
      'blind: a body with another merchant_reference was accepted.',
    );
  });

  test('they stop a contender that makes no event', async () => {
    const peer = stripe('a key');
    const silent = {
      ...peer,
      verify: (...given: Parameters<typeof peer.verify>) => void peer.verify(...given),
    };
    await expect(checkControls(silent, stripe('another key'), body)).rejects.toThrow(
      'stripe: the genuine body gave no event with its reference.',
    );
  });

  test('they stop a contender that refuses everything', async () => {
    const mismatched = { ...stripe('a key'), sign: stripe('another key').sign };
    await expect(checkControls(mismatched, stripe('a key'), body)).rejects.toThrow(
      'No signatures found matching the expected signature',
    );
  });
});

/** Checks a signature, over nothing but a constant. */
function bodyBlind(signingKey: string): Contender {
  const signature = createHmac('sha256', signingKey).update('constant').digest('hex');
  return {
    name: 'blind',
    call: '',
    isAsync: false,
    sign: () => ({ signature }),
    verify(given, headers) {
      if (headers['signature'] !== signature) throw new Error('The signature does not fit.');
      return JSON.parse(given.toString('utf8'));
    },
  };
}
