import { sampleCallback } from '@payment-service/core/testing';
import { expect, test } from 'vitest';
import { callbackBodies } from '../src/callback-bodies.ts';

test.each([
  ['typical', 400, 800],
  ['60 KiB', 61_440, 61_440],
] as const)('%s bodies are equally long, each with its own reference', (size, least, most) => {
  const bodies = callbackBodies(size, { sampleCallback });
  const [length = 0, ...others] = new Set(bodies.map((body) => body.length));
  expect(others).toEqual([]);
  expect(length).toBeGreaterThanOrEqual(least);
  expect(length).toBeLessThanOrEqual(most);
  const references = bodies.map((body) => JSON.parse(String(body)).payload.merchant_reference);
  expect(new Set(references).size).toBe(64);
});
