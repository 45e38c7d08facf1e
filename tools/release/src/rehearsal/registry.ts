import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Published, pnpm, readManifest, run } from '@payment-service/release/toolchains';
import { runServer } from 'verdaccio';

/** A registry on loopback that contains only the packages of this repository. */
export interface Registry extends Disposable {
  readonly url: string;
}

/** The scope of the packages. All others come from the registry configured in the environment. */
export const SCOPE = '@payment-service';

/** Starts a registry that keeps everything in `folder`. It sends no requests to other registries. */
export async function startRegistry(folder: string): Promise<Registry> {
  const anyone = { access: '$all', publish: '$all', unpublish: '$all' };
  const server: Server = await runServer({
    configPath: join(folder, 'config.yaml'),
    storage: join(folder, 'storage'),
    auth: {},
    uplinks: {},
    packages: { '**': anyone },
    max_body_size: '50mb',
    log: { type: 'stdout', format: 'pretty', level: 'warn' },
    web: { enable: false },
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Publishes the built packages, and the controls' faulty ones under a tag each. */
export async function publish(packages: readonly Published[], registry: Registry): Promise<void> {
  const published = new Map(packages.map((one) => [one.name, one]));
  const wrong = async (name: string, tag: string, change: (version: string) => object): Promise<void> => {
    const { folder = '', version = '' } = published.get(`${SCOPE}/${name}`) ?? {};
    const path = join(folder, 'package.json');
    const manifest = { ...readManifest<object>(path), ...change(version), version: `${version}-${tag}` };
    writeFileSync(path, JSON.stringify(manifest));
    await publishOne(folder, tag, registry);
  };
  const dependingOn = (version: string): object => ({ dependencies: { [`${SCOPE}/core`]: version } });
  for (const { folder } of packages) await publishOne(folder, 'latest', registry);
  await wrong('core', 'other-core', () => ({}));
  await wrong('express', 'other-core', (version) => dependingOn(`${version}-other-core`));
  await wrong('express', 'without-core', () => ({ dependencies: {} }));
  rmSync(join(published.get(`${SCOPE}/express`)?.folder ?? '', 'dist'), { recursive: true });
  await wrong('express', 'without-dist', dependingOn);
}

async function publishOne(folder: string, tag: string, registry: Registry): Promise<void> {
  writeFileSync(join(folder, '.npmrc'), npmSettings(registry));
  const flags = ['--no-git-checks', '--ignore-scripts', '--tag', tag, '--registry', `${registry.url}/`];
  await pnpm(folder, 'publish', ...flags);
}

/**
 * Checks that the registry for third-party packages has one of them.
 *
 * @throws {Error} if it is unreachable: a rehearsal without it proves nothing.
 */
export async function requireThirdPartyRegistry(cwd: string): Promise<void> {
  await run({ command: 'npm', args: ['view', 'express', 'version', '--fetch-retries=0'], cwd });
}

/** npm and pnpm settings that point the packages' scope to a registry. */
export function npmSettings({ url }: Registry): string {
  const host = url.replace('http:', '');
  // The token is not checked, but the clients do not publish without one.
  return `${SCOPE}:registry=${url}/\n${host}/:_authToken=anyone\nfund=false\naudit=false\nupdate-notifier=false\n`;
}

/** The same for Yarn, which does not read npm's settings. */
export function yarnSettings({ url }: Registry, thirdParty: string): string {
  return `npmRegistryServer: "${thirdParty}"
npmScopes: { payment-service: { npmRegistryServer: "${url}" } }
unsafeHttpWhitelist: ["127.0.0.1"]
nodeLinker: pnp
pnpFallbackMode: none
enableTelemetry: false
enableGlobalCache: false
npmPreapprovedPackages: ["${SCOPE}/*"]
`;
}
