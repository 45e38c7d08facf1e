import { expect, test } from 'vitest';
import { messagesIn } from '../../src/messages/messages.ts';
import { messagesDocument, speakingSources } from '../../src/messages/messages-document.ts';
import { fileAt } from '../../src/repository.ts';

const sources = speakingSources();

test('docs/messages.md lists every message of core and the adapters: run `pnpm messages` and review the change', () => {
  expect(sources.length).toBeGreaterThan(10);
  expect(fileAt('docs/messages.md').text).toBe(messagesDocument(sources));
});

test('control: an added message changes the document', () => {
  const added = {
    path: 'packages/koa/src/index.ts',
    text: "throw new Error('The database is unavailable.');",
  };
  const [first, ...others] = messagesDocument([added]).split('\n').slice(-4, -2);
  expect([first, ...others]).toEqual(['```text', 'Error: The database is unavailable.']);
  expect(messagesDocument([...sources, added])).not.toBe(messagesDocument(sources));
});

test('control: errors, hints, answers, warnings and other sentences are messages; types, paths and comments are not', () => {
  const text = `
    // A comment is not a message.
    import { a } from './a.ts';
    type B = 'one two three four';
    const HINTS: Record<string, string> = { mismatch: 'No signing key ' + 'matches.' };
    const ACCEPTED = jsonReply(200, { status: 'accepted' });
    function check(option: string, count: number): string {
      if (count > 1) throw new ConfigurationError('signingKey', \`\${option} is set \${count} times.\`);
      console.warn('Short.');
      return fail('it was not found');
    }
    const header = 'content-type';
  `;
  expect(messagesIn({ path: 'a.ts', text })).toEqual([
    { owner: 'HINTS.mismatch', text: 'No signing key matches.' },
    { owner: 'jsonReply', text: "200, { status: 'accepted' }" },
    { owner: 'ConfigurationError signingKey', text: '{option} is set {count} times.' },
    { owner: 'console.warn', text: 'Short.' },
    { owner: 'check', text: 'it was not found' },
  ]);
});
