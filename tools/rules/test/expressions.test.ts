/** No expression of a published package, or of the shop, takes longer than in proportion to its text (threat A67). */
import { expect, test } from 'vitest';
import { judgeExpressions } from '../src/expressions.ts';
import { filesMatching } from '../src/repository.ts';

/** What files compose, and why its work is linear. */
const COMPOSED: Readonly<Record<string, string>> = {
  'packages/core/src/client/response/wallets.ts':
    'a name, white space, a number: none can be divided in two ways',
  'packages/core/src/client/settings/scrubber.ts': 'keys of the program side by side, without a repetition',
  'packages/core/src/verify/callback-body.ts': 'a name and white space up to its colon',
  'packages/core/src/verify/json-members.ts': 'the same, with escapes',
  'packages/inbox/src/reconciliation/reading/line-words.ts':
    'whole words side by side, each with one space at most',
  'packages/sandbox/src/command/session.ts': 'begins at the start of a line of a file of the user',
};

const sources = filesMatching('packages/*/src/**/*.ts', 'apps/shop/src/**/*.ts').filter(
  ({ path }) => !path.includes('/generated/'),
);
const judged = sources.map((file) => ({ path: file.path, ...judgeExpressions(file) }));

test('threat A67: the work of every regular expression is linear', () => {
  expect(judged.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(200);
  const slow = judged.flatMap(({ path, slow }) => slow.map((expression) => `${path} ${expression}`));
  expect(slow).toEqual([]);
});

test('threat A67: each file that composes an expression is listed, with the reason why its work is linear', () => {
  const files = judged.filter(({ composed }) => composed.length > 0).map(({ path }) => path);
  expect(files.sort()).toEqual(Object.keys(COMPOSED));
});

test('control: a quadratic and a cubic expression, one made of a constant, and a composed one are reported', () => {
  const cubic = String.raw`/^([^\d\s]*)[\s\u00a0\u202f]*(\d[^a-z\p{Sc}]*?)[\s\u00a0\u202f]*(\D*)$/iu`;
  const text = `
    const a = ${cubic};
    const SPACES = '\\\\s+$';
    text.replace(new RegExp(SPACES, 'g'), '').replace(/a+$/, '').replace(/^\\s+|b/g, '');
    RegExp(SPACES + 'x');`;
  expect(judgeExpressions({ path: 'a.ts', text })).toEqual({
    count: 4,
    slow: [cubic, '/\\s+$/g', '/a+$/'],
    composed: ["RegExp(SPACES + 'x')"],
  });
});
