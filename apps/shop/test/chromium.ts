import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';
const APT = '/usr/bin/apt-get';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Starts Debian's chromium. Installs it where that is allowed, and otherwise throws with what to do: a test that needs
 * a browser never passes without one.
 */
export async function startChromium(): Promise<Browser> {
  if (!existsSync(PROGRAM)) installChromium();
  return chromium.launch({ executablePath: PROGRAM, args: FLAGS });
}

function installChromium(): void {
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && existsSync(APT);
  if (!mayInstall) {
    throw new Error(
      `The test at phone size needs ${PROGRAM}. On Debian: sudo apt-get update && sudo apt-get install chromium`,
    );
  }
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stdio: 'pipe' } as const;
  execFileSync(APT, ['update', '-q'], options);
  execFileSync(APT, ['install', '-y', '-q', '--no-install-recommends', 'chromium'], options);
}
