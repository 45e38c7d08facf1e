/** A reference in code resolves to an anchor of docs/; citations of other documents would not help a reader. */
import { expect, test } from 'vitest';
import { brokenReferences, referenceAnchors, unshownThreats } from '../../src/documents/references.ts';
import { repositoryFiles } from '../../src/repository.ts';

// The rule's own examples name anchors that do not exist.
const OWN = /^tools\/rules\/(src\/documents\/references|test\/documents\/references\.test)\.ts$/;
const files = repositoryFiles().filter(({ path }) => path !== 'pnpm-lock.yaml' && !OWN.test(path));
const anchors = referenceAnchors(files);

test('the three documents contain every anchor once', () => {
  const numbered = (letter: string): number => [...anchors].filter((id) => id.startsWith(letter)).length;
  expect(anchors).toContain('5.2');
  expect(numbered('A')).toBeGreaterThanOrEqual(40);
  expect(numbered('D')).toBeGreaterThanOrEqual(11);
});

test('every reference in code, tests, vectors and documents resolves to an anchor', () => {
  expect(files.flatMap((file) => brokenReferences(file, anchors))).toEqual([]);
});

test('every threat names the test, the vectors or the decision that shows its answer', () => {
  expect(unshownThreats(files)).toEqual([]);
});

const known = new Set(['5.2', '6', 'A3', 'A4', 'D6']);

test('control: references to anchors that do not exist are reported with their line', () => {
  const text = [
    '// protocol §5.2 and §6, threats A3, A4 and decision D6 exist',
    '// Protocol §5.2 and §7',
    "test('threat A41: nothing');",
    '{"rule": "D12", "threat": "A3"}',
    "rule='D13',",
  ].join('\n');
  expect(brokenReferences({ path: 'a.ts', text }, known)).toEqual([
    'a.ts:2: §7 is no anchor',
    'a.ts:3: A41 is no anchor',
    'a.ts:4: D12 is no anchor',
    'a.ts:5: D13 is no anchor',
  ]);
});

test('control: a heading is an anchor, and the protocol may cite its own sections without its name', () => {
  const text = '## 5. Authentication\n\n### 5.2 Signatures (§6)\n\nSee §5.2 and §9.\n';
  const document = { path: 'docs/protocol.md', text };
  expect([...referenceAnchors([document])]).toEqual(['5', '5.2']);
  expect(brokenReferences(document, known)).toEqual(['docs/protocol.md:5: §9 is no anchor']);
});

test('control: threats without a test, or whose test does not cite them, are reported', () => {
  const text = [
    '### A1 One\n\n**Shown by** `a.test.ts`.\n',
    '### A2 Two\n\n**Shown by** `b.test.ts`,\n`a.test.ts`.\n',
    '### A3 Three\n\nNothing.\n',
    '### A4 Four\n\n**Shown by** decision D6.\n',
  ].join('\n');
  const others = [
    { path: 'a.test.ts', text: 'threat A1' },
    { path: 'b.test.ts', text: 'threat A22' },
  ];
  expect(unshownThreats([{ path: 'docs/threats.md', text }, ...others])).toEqual([
    'A2 is not in b.test.ts',
    'A2 is not in a.test.ts',
    'A3 is shown by nothing',
  ]);
});
