import { expect, test } from 'vitest';
import { column, list } from '../src/index.ts';

test('a column has the kinds that it is given, and a wrong one does not compile', async () => {
  const rows = [{ id: 'a', total: '5' }];
  const columns = [
    column<(typeof rows)[number]>('Reference', ['title', 'wide'], ({ id }) => id),
    // @ts-expect-error: it is written "number".
    column<(typeof rows)[number]>('Total', ['numer'], ({ total }) => total),
  ];
  const shown = String(await list('orders', columns, rows));
  expect(shown).toContain('<td class="wide">a</td><td class="numer" data-label="Total">5</td>');
});
