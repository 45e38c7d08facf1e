import { expect, test } from 'vitest';
import { DIFFERENCES, HOSTILE_REQUESTS, judge } from '../src/hostile/judge.ts';
import { testVerdicts } from '../src/hostile/test-hostility.ts';

const program = new URL('lenient-server.ts', import.meta.url);

testVerdicts('node:http', program);

test('there are at least 400 hostile requests, each with its own name, and every difference is one of them', () => {
  const names = new Set(HOSTILE_REQUESTS.map(([name]) => name));
  expect(names.size).toBe(HOSTILE_REQUESTS.length);
  expect(names.size).toBeGreaterThanOrEqual(400);
  for (const request of Object.keys(DIFFERENCES))
    expect(names).toContain(request.split(', ').slice(2).join(', '));
});

test('control: an adapter that takes the first value of a header is noticed', async () => {
  const ofHeaders = HOSTILE_REQUESTS.filter(([name]) =>
    /^(a signature|header|an encoding)|headers/.test(name),
  );
  const judged = await judge('lenient', program, ofHeaders);
  const wrong = judged.filter(({ verdict, expected }) => verdict !== expected);
  expect(wrong.map(({ request, verdict }) => [request, verdict])).toEqual([
    ['HTTP/1.1, a signature: twice', '200 handled'],
    ['HTTP/1.1, a signature: genuine, then forged', '200 handled'],
    ['HTTP/1.1, a signature: genuine, then empty', '200 handled'],
    ["HTTP/1.1, a signature: joined with ', '", '200 handled'],
    ['HTTP/1.1, a signature: a second one under a name in upper case', '200 handled'],
    ['HTTP/1.1, an encoding: gzip, gzip', '200 handled'],
    ['HTTP/1.1, an encoding: gzip twice', '200 handled'],
    ['HTTP/1.1, an encoding: identity and gzip', '401'],
    ['HTTP/1.1, a vector: header: two equal headers joined with comma and space', '200 handled'],
  ]);
});
