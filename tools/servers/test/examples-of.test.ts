import { expect, test } from 'vitest';
import { examplesOf } from '../src/browser/examples-of.ts';

const ADDRESSES = ['/', '/orders', '/orders/compare', '/orders/:id', '/orders/:id/items', '/icon.svg'];
const EXAMPLES = {
  '/': '/',
  '/orders': ['/orders', '/orders?state=open#first'],
  '/orders/compare': '/orders/compare?of=1',
  '/orders/:id': '/orders/1',
  '/orders/:id/items': '/orders/1/items',
  '/icon.svg': { none: 'a picture' },
};
const without = (address: string) =>
  Object.fromEntries(Object.entries(EXAMPLES).filter(([one]) => one !== address));

test('the examples of every address are the paths to look at, except where a reason says that there is none', () => {
  expect(examplesOf('The shop', ADDRESSES, EXAMPLES)).toEqual([
    ['/', '/'],
    ['/orders', '/orders'],
    ['/orders?state=open#first', '/orders'],
    ['/orders/compare?of=1', '/orders/compare'],
    ['/orders/1', '/orders/:id'],
    ['/orders/1/items', '/orders/:id/items'],
  ]);
});

test.each(ADDRESSES)('without an example of %s, the message says what to add', (address) => {
  const problem = `The shop has a page at ${address} without an example here. Add '${address}' with a path, or { none: 'why' }.`;
  expect(() => examplesOf('The shop', ADDRESSES, without(address))).toThrow(new Error(problem));
});

test('examples without an address, or of another address, are reported together', () => {
  const wrong = {
    ...EXAMPLES,
    '/old': '/old',
    '/orders/:id': ['/orders/compare', '/orders/1/items', '/1'],
    '/orders': '/',
  };
  expect(() => examplesOf('The shop', ADDRESSES, wrong)).toThrow(
    new Error(`The shop has no page at /old. Remove the example, or correct its address.
/ is not a path of /orders. Give a path of that address.
/orders/compare is not a path of /orders/:id. Give a path of that address.
/orders/1/items is not a path of /orders/:id. Give a path of that address.
/1 is not a path of /orders/:id. Give a path of that address.`),
  );
});
