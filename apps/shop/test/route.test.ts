import { expect, test } from 'vitest';
import { isFromAnotherSite, isOwnHost } from '../src/web/route.ts';

const host = 'shop.example:3000';
const own = `http://${host}`;

test.each([
  ['another site', { host, 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' }, true],
  ['a neighbour', { host, 'sec-fetch-site': 'same-site', origin: own }, true],
  ['a page that hides its origin', { host, origin: 'null' }, true],
  ['another origin', { host, origin: 'http://evil.example' }, true],
  ['another port', { host, origin: 'http://shop.example:3001' }, true],
  ['a longer host', { host, origin: `${own}.evil.example` }, true],
  ['no host', { origin: own }, true],
  ['an origin that came twice', { host, origin: `${own}, ${own}` }, true],
  ['nonsense', { host, 'sec-fetch-site': '' }, true],
  ['the shop itself', { host, 'sec-fetch-site': 'same-origin', origin: own }, false],
  [
    'the shop itself, whose origin is hidden',
    { host, 'sec-fetch-site': 'same-origin', origin: 'null' },
    false,
  ],
  ['a person', { host, 'sec-fetch-site': 'none' }, false],
  ['the shop itself, by its origin', { host, origin: `https://${host}` }, false],
  ['a program', { host }, false],
])('a form from %s is refused: %o, %s', (_name, headers, isRefused) => {
  expect(isFromAnotherSite(headers)).toBe(isRefused);
});

const HERE = { origin: 'http://127.0.0.1:3000', shopUrl: 'http://127.0.0.1:3000' };
const PUBLIC = { origin: 'http://192.0.2.7:3000', shopUrl: 'https://Shop.example' };
const USUAL_PORT = { origin: 'http://localhost:80', shopUrl: 'http://localhost:80' };

test.each([
  ['127.0.0.1:3000', HERE],
  ['LocalHost:3000', HERE],
  ['[::1]:3000', HERE],
  ['shop.example', PUBLIC],
  ['SHOP.example:443', PUBLIC],
  ['localhost:3000', PUBLIC],
  ['192.0.2.7:3000', PUBLIC],
  ['localhost', USUAL_PORT],
  ['127.0.0.1:80', USUAL_PORT],
])('the shop answers under its own name %s', (name, addresses) => {
  expect(isOwnHost(name, addresses)).toBe(true);
});

test.each([
  [undefined, HERE],
  ['', HERE],
  ['evil.example:3000', HERE],
  ['127.0.0.1:3001', HERE],
  ['127.0.0.1', HERE],
  ['192.0.2.7:3000', HERE],
  ['shop.example:3000', PUBLIC],
  ['shop.example.evil.example', PUBLIC],
  ['evil.shop.example', PUBLIC],
  ['127.0.0.1.evil.example:3000', HERE],
  ['evil.example@127.0.0.1:3000', HERE],
  ['127.0.0.1:3000/evil.example', HERE],
])('the shop does not answer under the name %s', (name, addresses) => {
  expect(isOwnHost(name, addresses)).toBe(false);
});
