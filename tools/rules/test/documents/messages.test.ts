import { expect, test } from 'vitest';
import { messagesDocument, messagesIn, speakingSources } from '../../src/messages.ts';
import { fileAt } from '../../src/repository.ts';

const sources = speakingSources();

test('packages/messages.md lists every message of the packages and the shop: run `pnpm messages` and review the change', () => {
  for (const name of ['core', 'koa', 'inbox', 'sandbox', 'shop'])
    expect(sources.filter(({ path }) => path.includes(`/${name}/`))).not.toEqual([]);
  expect(fileAt('packages/messages.md').text).toBe(messagesDocument(sources));
});

test('control: errors, hints, warnings and the text of pages are messages; types, paths, comments and SQL are not', () => {
  const text = `
    // A comment is not a message.
    import { a } from './a.ts';
    type B = 'one two three four';
    const HINTS: Record<string, string> = { mismatch: 'No signing key ' + 'matches.' };
    function check(option: string, count: number): string {
      if (count > 1) throw new ConfigurationError('signingKey', \`\${option} is set \${count > 2 ? 'far too often' : 'twice'}.\`);
      console.warn('Short.');
      query('select id from t where id = ' + count);
      return fail('the key ' + option + ' was not found');
    }
    const header = 'content-type';
    const page = html\`<h1 class="large red card">Paid twice</h1>
      <input placeholder="Reference of the order"><p>The order
      is \${isPaid ? html\`<b>paid with money</b>\` : 'not paid yet'}.</p>\`;
  `;
  expect(messagesIn({ path: 'a.ts', text })).toEqual([
    'No signing key matches.',
    '… is set ….',
    'far too often',
    'Short.',
    'the key … was not found',
    'Paid twice',
    'Reference of the order',
    'The order is ….',
    'paid with money',
    'not paid yet',
  ]);
});
