/**
 * A checkout on Windows, where git writes CRLF unless the repository configures otherwise: the formatter would report every
 * file.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { repositoryFiles, root } from '../src/repository.ts';

const scratch = mkdtempSync(join(tmpdir(), 'checkout-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** One file of each kind that the repository has. */
const samples = [
  ...new Map(
    repositoryFiles()
      .filter(({ path }) => basename(path) !== '.gitattributes')
      .map(({ path }) => [extname(path) || basename(path), path]),
  ).values(),
];

/** Checks out the samples like git for Windows; returns the names of those that differ from the commit. */
function changedInCheckout(name: string, attributes: readonly string[]): readonly string[] {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'core.autocrlf=true', '-c', 'core.safecrlf=false', ...args], { cwd: folder });
  const copies = samples.map((path, index) => ({ path, copy: `${index}${basename(path)}` }));
  for (const { path, copy } of copies) copyFileSync(join(root, path), join(folder, copy));
  for (const path of attributes) copyFileSync(join(root, path), join(folder, path));
  git('init', '-q');
  git('add', '-A');
  for (const file of globSync('*.*', { cwd: folder })) rmSync(join(folder, file));
  git('checkout-index', '-a', '-f');
  const isSame = (path: string, copy: string): boolean =>
    readFileSync(join(folder, copy)).equals(readFileSync(join(root, path)));
  return copies.filter(({ path, copy }) => !isSame(path, copy)).map(({ path }) => path);
}

test('a checkout on Windows equals the commit byte for byte, for every kind of file', () => {
  expect(samples.length).toBeGreaterThan(15);
  expect(changedInCheckout('with', ['.gitattributes'])).toEqual([]);
});

test('control: without .gitattributes most kinds of text get other line ends, and pictures do not', () => {
  const changed = changedInCheckout('without', []);
  expect(changed.length).toBeGreaterThan(samples.length / 2);
  expect(changed.filter((path) => path.endsWith('.png'))).toEqual([]);
});
