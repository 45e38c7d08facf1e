import { expect, it } from 'vitest';
import * as adapter from '../src/index.ts';

// A new export is a reviewed line: it must be kept for years. Every adapter exports the same names.
it('exports these names and no others', () => {
  expect(Object.keys(adapter)).toEqual(['paymentCallbacks', 'paymentRedirects']);
});
