import { expect, test } from 'vitest';
import { isFromAnotherSite, isOwnHost } from '../src/web/route.ts';

const host = 'shop.example:3000';
const own = `http://${host}`;

test.each([
  [{ host, 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' }, true],
  [{ host, 'sec-fetch-site': 'same-site', origin: own }, true],
  [{ host, origin: 'null' }, true],
  [{ host, origin: 'http://shop.example:3001' }, true],
  [{ host, origin: `${own}.evil.example` }, true],
  [{ origin: own }, true],
  [{ host, 'sec-fetch-site': 'same-origin', origin: 'null' }, false],
  [{ host, 'sec-fetch-site': 'none' }, false],
  [{ host, origin: `https://${host}` }, false],
  [{ host }, false],
])('a form with the headers %o is refused: %s', (headers, isRefused) => {
  expect(isFromAnotherSite(headers)).toBe(isRefused);
});

const HERE = { origin: 'http://127.0.0.1:3000', shopUrl: 'http://127.0.0.1:3000' };
const PUBLIC = { origin: 'http://192.0.2.7:3000', shopUrl: 'https://Shop.example' };

test.each([
  [HERE, ['127.0.0.1:3000', 'LocalHost:3000', '[::1]:3000'], true],
  [PUBLIC, ['shop.example', 'SHOP.example:443', 'localhost:3000', '192.0.2.7:3000'], true],
  [HERE, [undefined, '', 'evil.example:3000', '127.0.0.1:3001', '127.0.0.1', '192.0.2.7:3000'], false],
  [HERE, ['127.0.0.1.evil.example:3000', 'evil.example@127.0.0.1:3000', '127.0.0.1:3000/evil'], false],
  [PUBLIC, ['shop.example:3000', 'shop.example.evil.example', 'evil.shop.example'], false],
])('the shop at %o answers under %o: %s', (addresses, names, isOwn) => {
  for (const name of names) expect([name, isOwnHost(name, addresses)]).toEqual([name, isOwn]);
});
