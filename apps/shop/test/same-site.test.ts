import { describe, expect, test } from 'vitest';
import { isFromAnotherSite, isOwnHost } from '../src/web/same-site.ts';

const host = 'shop.example:3000';

describe('the origin of a form', () => {
  test.each([
    ['another site', { host, 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' }],
    ['a neighbour', { host, 'sec-fetch-site': 'same-site', origin: `http://${host}` }],
    ['a page that hides its origin', { host, origin: 'null' }],
    ['another origin', { host, origin: 'http://evil.example' }],
    ['another port', { host, origin: 'http://shop.example:3001' }],
    ['a longer host', { host, origin: `http://${host}.evil.example` }],
    ['no host', { origin: 'http://shop.example:3000' }],
    ['headers that came twice', { host, origin: [`http://${host}`, `http://${host}`] }],
    ['nonsense', { host, 'sec-fetch-site': '' }],
  ])('%s is refused', (_name, headers) => {
    expect(isFromAnotherSite(headers)).toBe(true);
  });

  test.each([
    ['the shop itself', { host, 'sec-fetch-site': 'same-origin', origin: `http://${host}` }],
    [
      'the shop itself, whose browser hides the origin',
      { host, 'sec-fetch-site': 'same-origin', origin: 'null' },
    ],
    ['a person', { host, 'sec-fetch-site': 'none' }],
    ['the shop itself, by its origin', { host, origin: `https://${host}` }],
    ['a program', { host }],
  ])('%s is let in', (_name, headers) => {
    expect(isFromAnotherSite(headers)).toBe(false);
  });
});

describe('the host name of a request', () => {
  const HERE = { origin: 'http://127.0.0.1:3000', shopUrl: 'http://127.0.0.1:3000' };
  const PUBLIC = { origin: 'http://127.0.0.1:3000', shopUrl: 'https://Shop.example' };
  const EVERYWHERE = { origin: 'http://[::]:3000', shopUrl: 'http://[::]:3000' };
  const USUAL_PORT = { origin: 'http://localhost:80', shopUrl: 'http://localhost:80' };

  test.each([
    ['where it listens', '127.0.0.1:3000', HERE],
    ['another name of this computer', 'LocalHost:3000', HERE],
    ['another address of this computer', '127.0.0.2:3000', HERE],
    ['this computer in IPv6', '[::1]:3000', HERE],
    ['SHOP_URL', 'shop.example', PUBLIC],
    ['SHOP_URL with its usual port', 'SHOP.example:443', PUBLIC],
    ['this computer beside SHOP_URL', 'localhost:3000', PUBLIC],
    ['any address where it listens on all', '192.0.2.7:3000', EVERYWHERE],
    ['any IPv6 address where it listens on all', '[2001:db8::7]:3000', EVERYWHERE],
    ['without the usual port', 'localhost', USUAL_PORT],
    ['with the usual port', '127.0.0.1:80', USUAL_PORT],
    [
      'the address of a network that it listens on',
      '192.0.2.7:3000',
      { ...PUBLIC, origin: 'http://192.0.2.7:3000' },
    ],
  ])('%s is its own', (_name, host, own) => {
    expect(isOwnHost(host, own)).toBe(true);
  });

  test.each([
    ['none', undefined, HERE],
    ['an empty one', '', HERE],
    ['another name', 'evil.example:3000', HERE],
    ['another name where it listens on all', 'evil.example:3000', EVERYWHERE],
    ['another port', '127.0.0.1:3001', HERE],
    ['no port', '127.0.0.1', HERE],
    ['an address of another computer', '192.0.2.7:3000', HERE],
    ['the port of another shop at SHOP_URL', 'shop.example:3000', PUBLIC],
    ['a longer name', 'shop.example.evil.example', PUBLIC],
    ['a name before it', 'evil.shop.example', PUBLIC],
    ['a name that begins as an address', '127.0.0.1.evil.example:3000', HERE],
    ['a name that begins as localhost', 'localhost.evil.example:3000', HERE],
    ['a user before it', 'evil.example@127.0.0.1:3000', HERE],
    ['a user before SHOP_URL', 'evil@shop.example', PUBLIC],
    ['a path', '127.0.0.1:3000/evil.example', HERE],
    ['a port that does not exist', '127.0.0.1:99999', HERE],
    ['nonsense', '[:::]:3000', HERE],
  ])('%s is not', (_name, host, own) => {
    expect(isOwnHost(host, own)).toBe(false);
  });
});
