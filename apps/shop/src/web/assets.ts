import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Page } from './pages/page.ts';
import type { Route } from './route.ts';

const FOLDER = join(import.meta.dirname, 'assets');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** Every file of assets/ under its own name, read once. Nothing comes from another site. */
export function assetRoutes(): Route[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) in TYPES)
    .map((name) => {
      const asset: Page = {
        status: 200,
        headers: {
          'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
          'cache-control': 'max-age=300',
          // An SVG that is opened alone is a document: it runs nothing either.
          'content-security-policy': "default-src 'none'",
          'x-content-type-options': 'nosniff',
        },
        body: readFileSync(join(FOLDER, name), 'utf8'),
      };
      return { method: 'get', path: `/${name.replaceAll('\\', '/')}`, answer: async () => asset };
    });
}
