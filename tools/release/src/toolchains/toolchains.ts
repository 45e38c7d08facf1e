import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A Node that a user may have. `version` is its own output, such as `20.19.6`. */
export interface UserNode {
  readonly version: string;
  readonly binary: string;
}

const require = createRequire(import.meta.url);
const modules = join(import.meta.dirname, '..', '..', 'node_modules');

/**
 * The Node versions that the packages support, oldest first. They are Linux programs for x64; on every other platform the
 * running Node is the only one, whatever was installed.
 */
export function userNodes(): readonly UserNode[] {
  const isTheirPlatform = process.platform === 'linux' && process.arch === 'x64';
  const binaries = ['node20', 'node22', 'node24', 'node26'].map((name) => join(modules, name, 'bin', 'node'));
  const installed = binaries.filter((binary) => existsSync(binary));
  if (!isTheirPlatform || installed.length === 0)
    return [{ version: process.versions.node, binary: process.execPath }];
  return installed.map((binary) => ({ version: versionOf(binary), binary }));
}

/** TypeScript 5, which most users still compile with: the path of its `tsc`. */
export function typescript5(): string {
  return join(dirname(require.resolve('typescript5/package.json')), 'bin', 'tsc');
}

function versionOf(binary: string): string {
  return execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim().replace(/^v/, '');
}
