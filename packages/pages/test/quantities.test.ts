import { expect, test } from 'vitest';
import { capital, confirmationIn, groupedDigits } from '../src/index.ts';

test.each([
  ['0', '0'],
  ['999', '999'],
  ['1000', '1,000'],
  ['-12345678.5000', '-12,345,678.5000'],
  ['100000', '100,000'],
  ['rounded', 'rounded'],
  ['1e+21', '1e+21'],
  ['', ''],
])('the digits of %j are grouped as %j', (amount, text) => {
  expect(groupedDigits(amount)).toBe(text);
});

test('a word of the wire has one capital letter', () => {
  expect(['COMPLETED', 'not expected', ''].map(capital)).toEqual(['Completed', 'Not expected', '']);
});

test('a confirmation in any script is read as it was said, and one that was not said is ignored', () => {
  const { say, take } = confirmationIn('said');
  const from = (cookie: string, more = {}) => take(new Headers({ cookie, ...more }));
  const sent = `a=1; ${say('Closed – été', '').split(';', 1)}`;
  expect([from(sent), from(sent, { 'x-refresh': '1' })]).toEqual(['Closed – été', '']);
  for (const forged of ['%ff', '<b>closed</b>', 'a b', '%41']) expect(from(`said=${forged}`)).toBe('');
});
