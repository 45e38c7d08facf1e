import { expect, test } from 'vitest';
import { ATTACKS } from '../src/hostile/attacks.ts';
import { DIFFERENCES } from '../src/hostile/differences.ts';
import { brokenBounds, HOSTILE_REQUESTS, judgeServer, NAIVE, resistAttacks } from '../src/hostile/index.ts';
import { testHostility } from '../src/index.ts';

const program = new URL('lenient-server.ts', import.meta.url);
const TIMEOUT = { timeout: 240_000 };

testHostility('node:http', program);

test('there are at least 400 hostile requests, each with its own name, and every difference is one of them', () => {
  const names = new Set(HOSTILE_REQUESTS.map(({ kind, name }) => `${kind}: ${name}`));
  expect(names.size).toBe(HOSTILE_REQUESTS.length);
  expect(names.size).toBeGreaterThanOrEqual(400);
  for (const request of Object.keys(DIFFERENCES))
    expect(names).toContain(request.split(', ').slice(2).join(', '));
});

test('control: an adapter that takes the first value of a header is noticed', TIMEOUT, async () => {
  const { judged } = await judgeServer({ name: 'lenient', program });
  const wrong = judged.filter(({ verdict, expected }) => verdict !== expected);
  expect(wrong.map(({ request, verdict }) => [request, verdict])).toEqual([
    ['a signature: twice', '200 handled'],
    ['a signature: genuine, then forged', '200 handled'],
    ['a signature: genuine, then empty', '200 handled'],
    ["a signature: joined with ', '", '200 handled'],
    ['header lines: a second signature under a name in upper case', '200 handled'],
    ['an encoding: "gzip, gzip" of 10 characters', '200 handled'],
    ['an encoding: "gzip, gzip, gzip, gz" of 3004 characters', '200 handled'],
    ['an encoding: gzip twice', '200 handled'],
    ['an encoding: identity and gzip', '401'],
    ['a vector: header: two equal headers joined with comma and space', '200 handled'],
  ]);
});

test(
  'control: a receiver that collects bodies breaks a bound under every heavy attack',
  TIMEOUT,
  async () => {
    const resisted = await resistAttacks(NAIVE, { isFull: false, patienceSeconds: 1 });
    expect(resisted.length).toBeGreaterThanOrEqual(14);
    expect(resisted.filter((one) => brokenBounds({ ...one, failure: undefined }).length === 0)).toEqual([]);
    expect(resisted.flatMap(brokenBounds).filter((bound) => bound.includes('processed pieces'))).toHaveLength(
      1,
    );
  },
);

test(
  'control: streams stay open where an adapter hides the version of HTTP (threat A43)',
  TIMEOUT,
  async () => {
    const attacks = ATTACKS.filter(({ name }) => name === 'streams left open');
    const options = { isFull: false, patienceSeconds: 1, attacks };
    const resisted = await resistAttacks({ name: 'hides HTTP/2', program }, options);
    expect(resisted.map(({ streamsLeft }) => streamsLeft)).toEqual([100]);
  },
);
