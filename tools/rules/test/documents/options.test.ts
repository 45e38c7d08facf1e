/** The tables of options have every option and the default that its docstring states; the table of events has each event. */
import { expect, test } from 'vitest';
import { prose, section, tableRows } from '../../src/markdown.ts';
import { fileAt } from '../../src/repository.ts';

interface Member {
  readonly name: string;
  readonly doc: string;
}
type Row = readonly [names: readonly string[], preset: string];

/** The page, the head of the table's first column, and the interfaces, whose files are below packages. */
const TABLES: readonly (readonly [page: string, head: string, ...interfaces: string[]])[] = [
  [
    'packages/core/README.md',
    'option of `createVerifier`',
    'core/src/verify/signing-keys.ts KeyOptions',
    'core/src/verify/signed-fields.ts ColonRule',
    'core/src/verify/create-verifier.ts VerifierOptions',
  ],
  [
    'packages/core/README.md',
    'option',
    'core/src/receive/receiver.ts ReceiverOptions',
    'core/src/receive/receiver.ts CallbackOptions',
    'core/src/receive/receiver.ts RedirectOptions',
  ],
  ['packages/core/README.md', 'option of `createClient`', 'core/src/client/client.ts ClientOptions'],
  [
    'packages/core/README.md',
    'option of `request`',
    'core/src/client/request/request.ts CommonRequestOptions',
    'core/src/client/request/request.ts RequestOptions',
    // Each overload has its own.
    'schema',
  ],
  ['packages/inbox/README.md', 'field', 'inbox/src/verdict/expectation.ts Expectation'],
  ['packages/inbox/README.md', 'option of `createInbox`', 'inbox/src/options.ts InboxOptions'],
  ['packages/inbox/README.md', 'option of `work`', 'inbox/src/work/worker.ts WorkerOptions'],
  ['packages/inbox/README.md', 'option of `drain`', 'inbox/src/work/drain.ts DrainOptions'],
  ['packages/inbox/README.md', 'option of `prune`', 'inbox/src/operator/prune.ts PruneOptions'],
  ['docs/inbox-console.md', 'option', 'inbox/src/console/console.ts ConsoleOptions'],
  ['packages/sandbox/README.md', 'option', 'sandbox/src/options.ts SandboxOptions'],
];

test.each(TABLES)('%s has every %s, with its default', (page, head, ...interfaces) => {
  const members = interfaces.flatMap((named) => {
    const [path = '', name] = named.split(' ');
    if (name === undefined) return [{ name: path, doc: '' }];
    return membersOf(fileAt(`packages/${path}`).text, name);
  });
  expect(faultsIn(rowsOf(fileAt(page).text, head), members)).toEqual([]);
});

test('the table of events has the name of each event, and no other', () => {
  const union = fileAt('packages/inbox/src/reporting/events.ts').text;
  const names = [...union.matchAll(/readonly name: '([\w.]+)'/g)].map(([, name]) => name);
  const { text } = fileAt('docs/inbox-operations.md');
  const listed = tableRows(section(text, '### Events')).map(([first = '']) => first.replaceAll('`', ''));
  expect(names.length).toBeGreaterThan(10);
  expect(listed).toEqual(names);
});

test('an option that is missing, one that is gone and a default that differs are found', () => {
  const members = membersOf(
    `interface Options {
  /** How long. @default 10_000 */
  readonly timeoutMs?: number;
  /** @default 'UTC' */
  readonly zone?: string;
  readonly added?: string;
}`,
    'Options',
  );
  const rows = rowsOf(
    `| option | default | |
|---|---|---|
| \`timeoutMs\` | 10 000 | how long |
| \`zone\` | \`'CET'\` | whose |
| \`gone\` | 3 | |
`,
    'option',
  );
  expect(faultsIn(rows, members)).toEqual([
    'added: not in the table',
    "zone: the docstring says 'UTC', the table 'CET'",
    'gone: not an option',
  ]);
});

/** The rows of the table whose first column has this head. */
function rowsOf(page: string, head: string): readonly Row[] {
  const [, table] = `\n${prose(page)}`.split(`\n| ${head} | default |`);
  if (table === undefined) throw new Error(`There is no table of "${head}".`);
  const rows = `| | |\n${table.slice(table.indexOf('\n') + 1).split('\n\n')[0]}`;
  return tableRows(rows).map(([first = '', preset = '']) => [
    [...first.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    preset,
  ]);
}

function membersOf(source: string, name: string): readonly Member[] {
  const [, body] =
    new RegExp(`^(?:export )?interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source) ?? [];
  if (body === undefined) throw new Error(`There is no interface ${name}.`);
  const pieces = `\n${body}`.split(/^(?= {2}(?:readonly )?\w+\??[:(])/m);
  return pieces.slice(1).map((text, index) => ({
    name: /\w+(?=\??[:(])/.exec(text)?.[0] ?? '',
    // Its comment ends the piece before it.
    doc: /\/\*\*((?:(?!\/\*\*).)*)\*\/\s*$/s.exec(pieces[index] ?? '')?.[1] ?? '',
  }));
}

function faultsIn(rows: readonly Row[], members: readonly Member[]): readonly string[] {
  const listed = rows.flatMap(([names]) => names);
  const missing = members.filter(({ name }) => !listed.includes(name));
  const gone = listed.filter((name) => !members.some((member) => member.name === name));
  const differing = members.flatMap(({ name, doc }) => {
    const [, preset = ''] = rows.find(([names]) => names.includes(name)) ?? [];
    const [stated, shown] = [literalIn(/@default ([^\n]*)/.exec(doc)?.[1] ?? ''), preset.replaceAll('`', '')];
    if (stated === undefined || literalsIn(shown).includes(stated) || !listed.includes(name)) return [];
    return [`${name}: the docstring says ${stated}, the table ${shown}`];
  });
  return [
    ...missing.map(({ name }) => `${name}: not in the table`),
    ...differing,
    ...gone.map((name) => `${name}: not an option`),
  ];
}

/** The literal at the start of a string, such as 429 or false, if there is one. */
function literalIn(text: string): string | undefined {
  const [first] = literalsIn(text);
  return first !== undefined && text.replaceAll('_', '').startsWith(first) ? first : undefined;
}

function literalsIn(text: string): readonly string[] {
  return (
    text.replaceAll(/(?<=\d)[ _](?=\d)/g, '').match(/'[^']*'|\[[^\]]*\]|\{\}|\b(?:true|false)\b|\b\d+\b/g) ??
    []
  );
}
