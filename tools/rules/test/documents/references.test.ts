/** A reference in code resolves to an anchor of docs/; citations of other documents would not help a reader. */

import { expect, test } from 'vitest';
import { repositoryFiles, type TextFile } from '../../src/repository.ts';

/** The documents that hold the anchors, and the headings that make one: `### 5.2 …`, `### A3 …`, `### D6 …`. */
const ANCHORS = {
  'docs/protocol.md': /^#{2,4} (\d+(?:\.\d+)?)\.? /gm,
  'docs/threats.md': /^#{2,4} (A\d+) /gm,
  'docs/decisions.md': /^#{2,4} (D\d+) /gm,
};

/** The three forms of a reference, each with the rest of its list: `protocol §5.2 and §6`, `threats A7 to A9`. */
const FORMS = [
  /\bprotocol(?:\.md)? (§[\d.]*\d(?:(?:, | and | or | to )§[\d.]*\d)*)/gi,
  /\bthreats? (A\d+(?:(?:, | and | or | to )A\d+)*)/gi,
  /\bdecisions? (D\d+(?:(?:, | and | or | to )D\d+)*)/gi,
  // The members of a test vector, and the arguments of the program that creates it.
  /"?\b(?:rule|threat)(?:": |=)["']([AD]\d+)["']/g,
];

/** `5.2`, `A3` and `D6` of every heading that a reference can name. */
function referenceAnchors(files: readonly TextFile[]): ReadonlySet<string> {
  return new Set(
    Object.entries(ANCHORS).flatMap(([path, heading]) => {
      const text = files.find((file) => file.path === path)?.text ?? '';
      return [...text.matchAll(heading)].map(([, id = '']) => id);
    }),
  );
}

/** References that lead nowhere, with their lines. */
function brokenReferences({ path, text }: TextFile, anchors: ReadonlySet<string>): readonly string[] {
  const at = (index: number): string => `${path}:${rest.slice(0, index).split('\n').length}`;
  const problems: string[] = [];
  // A heading is the anchor; within its own document, a section may be cited without the document's name.
  let rest = path in ANCHORS ? text.replace(/^#+ .*$/gm, blank) : text;
  if (path === 'docs/protocol.md') rest = rest.replace(/§(?=\d)/g, 'protocol §');
  for (const form of FORMS) {
    rest = rest.replace(form, (match: string, list: string, index: number) => {
      const unknown = list
        .split(/[^\w.§]+/)
        .filter((id) => /\d/.test(id) && !anchors.has(id.replace('§', '')));
      problems.push(...unknown.map((id) => `${at(index)}: ${id} is no anchor`));
      return blank(match);
    });
  }
  return problems;
}

/**
 * Threats whose answer no test or decision shows. The line **Shown by** names a decision, or a test or a file of vectors that
 * cites the threat.
 */
function unshownThreats(files: readonly TextFile[]): readonly string[] {
  const document = files.find(({ path }) => path === 'docs/threats.md')?.text ?? '';
  return document.split(/^### (?=A\d)/m).flatMap((entry, index) => {
    if (index === 0) return [];
    const [id = ''] = entry.split(' ');
    const shown = /^\*\*Shown by\*\*([\s\S]*?)\n\n/m.exec(`${entry}\n\n`)?.[1] ?? '';
    const paths = [...shown.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    if (paths.length === 0 && !/decision D\d/.test(shown)) return [`${id} is shown by nothing`];
    const cites = new RegExp(`\\b${id}\\b`);
    return paths
      .filter((path) => !cites.test(files.find((file) => file.path === path)?.text ?? ''))
      .map((path) => `${id} is not in ${path}`);
  });
}

/** Keeps the length and the lines, so that positions stay the same. */
function blank(match: string): string {
  return match.replace(/[^\n]/g, ' ');
}

// The rule's own examples name anchors that do not exist.
const OWN = /^tools\/rules\/test\/documents\/references\.test\.ts$/;
const files = repositoryFiles().filter(({ path }) => path !== 'pnpm-lock.yaml' && !OWN.test(path));
const anchors = referenceAnchors(files);

test('every reference in code, tests, vectors and documents resolves to an anchor', () => {
  expect([...anchors]).toEqual(expect.arrayContaining(['5.2', 'A3', 'D6']));
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
