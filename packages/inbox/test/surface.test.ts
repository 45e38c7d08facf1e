import { expect, it } from 'vitest';
import * as inbox from '../src/index.ts';

// A new export is a reviewed line: it must be kept for years.
it('exports these names and no others', () => {
  expect(Object.keys(inbox).sort()).toEqual(['createInbox', 'postgres', 'sqlite']);
});
