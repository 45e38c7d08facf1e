import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { lastLines, run, start, stop } from './run.ts';

/** A registry on loopback that holds the packages of this repository and no others. */
export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/** The scope of the packages. All others come from the registry that the environment configures. */
export const SCOPE = '@payment-service';

const require = createRequire(import.meta.url);
const DEADLINE_MS = 30_000;

/** Starts a registry that keeps everything in `folder`. It asks no other registry for anything. */
export async function startRegistry(folder: string): Promise<Registry> {
  await mkdir(folder, { recursive: true });
  const anyone = { access: '$all', publish: '$all', unpublish: '$all' };
  const config = {
    storage: join(folder, 'storage'),
    auth: {},
    uplinks: {},
    packages: { '**': anyone },
    max_body_size: '50mb',
    log: { type: 'stdout', format: 'pretty', level: 'warn' },
    web: { enable: false },
  };
  const path = join(folder, 'config.json'); // JSON is YAML.
  await writeFile(path, JSON.stringify(config));
  const manifest = require.resolve('verdaccio/package.json');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = start({
    command: process.execPath,
    args: [join(dirname(manifest), 'bin', 'verdaccio'), '--config', path, '--listen', url],
    cwd: folder,
  });
  await answering(`${url}/-/ping`, () => {
    if (running.child.exitCode !== null)
      throw new Error(`The registry ended:\n${lastLines(running.output())}`);
  });
  return {
    url,
    close: async () => {
      await stop(running);
    },
  };
}

/**
 * Asks the registry of third-party packages for one small package.
 *
 * @throws {Error} when it is out of reach: a rehearsal without it has proved nothing.
 */
export async function requireThirdPartyRegistry(cwd: string): Promise<void> {
  try {
    await run({ command: 'npm', args: ['view', '@noble/hashes', 'version', '--fetch-retries=0'], cwd });
  } catch (error) {
    throw new Error(
      'The registry of third-party packages is out of reach, so nothing was rehearsed. Check the network and the ' +
        'registry that npm is configured with.',
      { cause: error },
    );
  }
}

/** Settings that send the scope of the packages to a registry, for npm and pnpm. */
export function npmSettings({ url }: Registry): string {
  const host = url.replace('http:', '');
  // The value is not checked; the clients publish nothing without one.
  return `${SCOPE}:registry=${url}/\n${host}/:_authToken=anyone\nfund=false\naudit=false\nupdate-notifier=false\n`;
}

/** The same for Yarn, which does not read npm's settings. */
export function yarnSettings({ url }: Registry, thirdParty: string): string {
  return [
    `npmRegistryServer: "${thirdParty}"`,
    `npmScopes: { payment-service: { npmRegistryServer: "${url}" } }`,
    'unsafeHttpWhitelist: ["127.0.0.1"]',
    'nodeLinker: pnp',
    'pnpFallbackMode: none',
    'enableTelemetry: false',
    'enableGlobalCache: false',
    `npmPreapprovedPackages: ["${SCOPE}/*"]`,
    '',
  ].join('\n');
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

/** Waits until a URL answers with anything. `check` throws when there is nothing to wait for any more. */
export async function answering(url: string, check: () => void): Promise<void> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  for (;;) {
    check();
    try {
      await fetch(url);
      return;
    } catch (error) {
      if (deadline.aborted) throw new Error(`${url} does not answer.`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
