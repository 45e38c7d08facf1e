import { expect, test } from 'vitest';
import { isFromOwnPage, senderOf } from '../src/index.ts';

const host = 'shop.example:3000';
const own = `http://${host}`;

test.each([
  [{ host, 'sec-fetch-site': 'same-origin' }, 'own page'],
  [{ host, 'sec-fetch-site': 'same-origin', origin: 'null' }, 'own page'],
  [{ host, origin: own }, 'own page'],
  // A proxy ends TLS.
  [{ host, origin: `https://${host}` }, 'own page'],
  [
    { host: 'localhost:4010', 'sec-fetch-site': 'same-origin', origin: 'https://x.tunnel.example' },
    'own page',
  ],
  [{ host }, 'program'],
  [{}, 'program'],
  [{ host, 'sec-fetch-site': 'none' }, 'program'],
  [{ host, 'sec-fetch-site': 'cross-site', origin: own }, 'another'],
  [{ host, 'sec-fetch-site': 'same-site', origin: own }, 'another'],
  [{ host, 'sec-fetch-site': 'same-site' }, 'another'],
  [{ host, 'sec-fetch-site': '' }, 'another'],
  [{ host, origin: 'null' }, 'another'],
  [{ host, origin: '' }, 'another'],
  [{ host, origin: 'http://shop.example:3001' }, 'another'],
  [{ host, origin: 'http://shop.example' }, 'another'],
  [{ host, origin: `${own}.evil.example` }, 'another'],
  [{ host, origin: `${own}, ${own}` }, 'another'],
  [{ origin: own }, 'another'],
  [{ host: '', origin: 'file:///x' }, 'another'],
])('a form with the headers %o is from: %s', (headers, sender) => {
  expect(isFromOwnPage(headers)).toBe(sender === 'own page');
  expect(isFromOwnPage(headers, { orProgram: true })).toBe(sender !== 'another');
  const request = new Request('http://ignored.example', { headers });
  if ('host' in headers) expect(isFromOwnPage(senderOf(request))).toBe(sender === 'own page');
});

test('without a socket, a request has the host of its address', () => {
  const from = (origin: string): boolean =>
    isFromOwnPage(senderOf(new Request(`${own}/pay`, { headers: { origin } })));
  expect([from(own), from('http://evil.example')]).toEqual([true, false]);
});
