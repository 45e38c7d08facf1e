import { reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { expect, test } from 'vitest';

test('threat A58: keys, a phone number and a name are shown only where that is intended', () => {
  const { results, output } = reportOf('canary');
  expect(results.filter(({ met }) => !met)).toEqual([]);
  // The controls: places that deliberately show each of the five.
  for (const secret of ['signing key', 'public key', 'secret key', 'phone', 'name'])
    expect(output).toMatch(new RegExp(`control: a printed error .*${secret}`));
});
