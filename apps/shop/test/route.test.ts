import { expect, test } from 'vitest';
import { isOwnHost } from '../src/web/route.ts';

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
