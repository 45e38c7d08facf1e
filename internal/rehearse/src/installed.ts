import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The versions that a project really has of its dependencies, such as `express 5.3.0`; packages of this repository are left
 * out. A row that says Express 4 and ran on 5 must be seen.
 */
export async function installedVersions(
  cwd: string,
  dependencies: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const names = Object.keys(dependencies).filter((name) => !name.startsWith('@payment-service/'));
  const lock = join(cwd, 'yarn.lock');
  const locked = existsSync(lock) ? await readFile(lock, 'utf8') : '';
  return Promise.all(
    names.map(async (name) => {
      const manifest = join(cwd, 'node_modules', name, 'package.json');
      const version = existsSync(manifest)
        ? (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version
        : locked.split(`"${name}@npm:`)[1]?.match(/^ {2}version: (\S+)/m)?.[1];
      return `${name} ${version ?? 'not found'}`;
    }),
  );
}
