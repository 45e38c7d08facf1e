import { spawnSync } from 'node:child_process';

/**
 * Sees to it that a program of Debian's is there: installs it when this process may.
 *
 * @param name of the program, which is also that of its package.
 * @returns undefined when it is there; otherwise a sentence that says how to install it.
 */
export function installed(name: string): string | undefined {
  if (isThere(name)) return undefined;
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update'], { env, stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], { env, stdio: 'ignore' });
    if (isThere(name)) return undefined;
  }
  return `${name} is not installed, and could not be. On Debian, as root: apt-get install ${name}`;
}

function isThere(name: string): boolean {
  return spawnSync('which', [name]).status === 0;
}
