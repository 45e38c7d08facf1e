import { describe, expect, it } from 'vitest';
import { isFromAnotherSite } from '../src/same-site.ts';

const host = 'shop.example:3000';

describe('where a form comes from', () => {
  it.each([
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

  it.each([
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
