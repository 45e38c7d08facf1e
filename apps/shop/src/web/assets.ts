import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type AssetName, readAsset } from '@payment-service/pages';
import { get, type Route } from './route.ts';

const FOLDER = join(import.meta.dirname, 'assets');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** What the shop's pages share with the inbox's console: the style and the updates of open pages. */
const SHARED: readonly AssetName[] = ['style.css', 'live.js', 'idiomorph.js'];

/** Every file of assets/ under its own name, and the shared ones. */
export function assetRoutes(): Route[] {
  const own = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) in TYPES)
    .map((name) => [name, () => readFile(join(FOLDER, name), 'utf8')] as const);
  const shared = SHARED.map((name) => [name, () => readAsset(name)] as const);
  return [...shared, ...own].map(([name, read]) =>
    get(`/assets/${name.replaceAll('\\', '/')}`, async () => ({
      status: 200,
      headers: {
        'content-type': TYPES[extname(name)] ?? '',
        'cache-control': 'max-age=300',
        // An SVG that is opened directly is a document, which must not run anything either.
        'content-security-policy': "default-src 'none'",
        'x-content-type-options': 'nosniff',
      },
      body: await read(),
    })),
  );
}
