import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { unpackedChromium } from './unpacked-chromium.ts';

export type { Browser, BrowserContext, Page } from 'playwright-core';

const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  // Every other name and address fails as unknown, so no test can depend on the network.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]',
];

/**
 * Starts a headless browser with an empty profile, which `close()` removes.
 *
 * It runs without Chromium's sandbox, which is unavailable to root and in most containers: open only the test's own pages.
 *
 * @param options Playwright options, for a browser other than the platform's.
 * @throws {Error} if no browser can run; the message says what to install.
 */
export async function startBrowser(options?: LaunchOptions): Promise<Browser> {
  try {
    return await chromium.launch({
      ...(options ?? (await platformBrowser())),
      args: FLAGS,
      chromiumSandbox: false,
    });
  } catch (cause) {
    throw new Error(`No browser could be started, and this test needs one. ${advice()}\n${cause}`, { cause });
  }
}

async function platformBrowser(): Promise<LaunchOptions> {
  if (process.platform !== 'linux') return { channel: 'chrome' };
  if (process.arch !== 'x64') return { executablePath: '/usr/bin/chromium' };
  const { program, environment } = await unpackedChromium();
  return { executablePath: program, env: { ...process.env, ...environment } };
}

function advice(): string {
  if (process.platform !== 'linux') return 'Install Google Chrome.';
  if (process.arch !== 'x64') return 'Install the chromium package of your distribution.';
  return 'Chromium from npm needs glibc 2.34 or later, as in Debian 12 and Ubuntu 22.04.';
}
