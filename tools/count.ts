/**
 * `pnpm count [folder]`: prints the size of the repository by room, in lines of code without blank lines and comments: ts, js, vue,
 * css, sql and py. Tests are all files in a folder `test`, and `*.test.ts`, `*.proof.ts` and `*.test-d.ts`. Markdown is counted
 * without changelogs, changesets and generated files. Exits with 1 if a room is over its budget.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeLines } from './rules/src/syntax.ts';

/** The maximum for each room, in lines. */
const BUDGETS = { product: 22_300, apps: 1900, proofs: 8300, tools: 3300, tests: 27_000, documents: 7500 };
type Room = keyof typeof BUDGETS;

const CODE = /\.([cm]?[jt]s|tsx|vue|css|sql|py)$/;
const TEST = /(^|\/)test\/|\.(test|proof|test-d)\.ts$/;
const NOT_DOCUMENTS = /CHANGELOG\.md$|^\.changeset\/|\.api\.md$|messages\.md$/;

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
});
const files = listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)));
const sizes = { product: 0, apps: 0, proofs: 0, tools: 0, tests: 0, documents: 0 };
const folders = new Map<string, number>();
for (const path of files) {
  const room = roomOf(path);
  if (room === undefined) continue;
  const text = readFileSync(join(root, path), 'utf8');
  const size = room === 'documents' ? text.split('\n').length - 1 : lines(path, text);
  sizes[room] += size;
  const folder = room === 'documents' ? room : `${room}  ${path.split('/').slice(0, 2).join('/')}`;
  folders.set(folder, (folders.get(folder) ?? 0) + size);
}
for (const [folder, size] of [...folders].sort()) console.log(String(size).padStart(7), folder);
console.log();
for (const [room, budget] of Object.entries(BUDGETS)) {
  const size = sizes[room as Room];
  if (size > budget) process.exitCode = 1;
  console.log(String(size).padStart(7), 'of', String(budget).padStart(6), room, size > budget ? 'OVER' : '');
}
console.log(String(files.length).padStart(7), 'files');

function roomOf(path: string): Room | undefined {
  if (path.endsWith('.md')) return NOT_DOCUMENTS.test(path) ? undefined : 'documents';
  if (!CODE.test(path)) return undefined;
  if (TEST.test(path)) return 'tests';
  const [top = ''] = path.split('/');
  return (
    ({ packages: 'product', apps: 'apps', proofs: 'proofs', openapi: 'proofs' }[top] as Room | undefined) ??
    'tools'
  );
}

function lines(path: string, text: string): number {
  if (/\.([cm]?[jt]s|tsx)$/.test(path)) return codeLines({ path, text });
  const comments = path.endsWith('.py') ? /"""[\s\S]*?"""|^\s*#.*$/gm : /\/\*[\s\S]*?\*\/|^\s*--.*$/gm;
  return text
    .replaceAll(comments, '')
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}
