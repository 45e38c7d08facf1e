import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiReports } from '../src/api-reports.ts';

const root = join(import.meta.dirname, '../../..');
const scratch = mkdtempSync(join(tmpdir(), 'api-report-test-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const committed = (path: string): string =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
const ACCEPT = 'the public API changed. Review the difference; `pnpm api` accepts it';

describe('the reports of the public API', () => {
  const reports = apiReports(root);

  test.each(reports)('match the declarations that the build emits: $path', ({ path, text }) => {
    expect(committed(path), `${path}: ${ACCEPT}`).toBe(text);
  });

  test('belong to entries that exist', () => {
    const files = globSync('packages/*/api/*', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
    expect(files.sort(), ACCEPT).toEqual(reports.map(({ path }) => path).sort());
  });
});

test('control: a changed member, base class, unexported type and global type are reported', () => {
  // The built sandbox, alone in a repository, with other declarations.
  const original = join(root, 'packages/sandbox');
  const folder = join(scratch, 'packages/sandbox');
  mkdirSync(folder, { recursive: true });
  cpSync(join(original, 'package.json'), join(folder, 'package.json'));
  cpSync(join(original, 'dist'), join(folder, 'dist'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'), 'junction');
  symlinkSync(join(original, 'node_modules'), join(folder, 'node_modules'), 'junction');
  const addition = 'declare global {\n  interface Array<T> {\n    added: T;\n  }\n}\n';
  const declarations = join(folder, 'dist/index.d.ts');
  let text = readFileSync(declarations, 'utf8');
  for (const [from, to] of [
    ['readonly late_ms?: number | undefined', 'readonly late_ms: string'],
    ['class SandboxRefusal extends PaymentServiceError', 'class SandboxRefusal extends Error'],
    ['interface TransactionRequest {', 'interface TransactionRequest {\n  readonly more: string;'],
    ['interface Clock {', `${addition}interface Clock {`],
  ] as const) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  writeFileSync(declarations, text);
  const [changed] = apiReports(scratch);
  for (const part of [
    'late_ms: string;',
    'SandboxRefusal extends Error',
    'readonly more: string;',
    'added: T;',
  ]) {
    expect(committed('packages/sandbox/api/index.api.md')).not.toContain(part);
    expect(changed?.text).toContain(part);
  }
});
