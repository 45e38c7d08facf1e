/** Builds the site as `pnpm site` does. What the build cannot see, these tests read in the finished pages. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { startBrowser } from '@payment-service/browser';
import { beforeAll, expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..');
const dist = join(folder, 'dist');
const manifest = readFileSync(join(folder, '..', '..', 'package.json'), 'utf8');
const { homepage } = JSON.parse(manifest) as { readonly homepage: string };
const run = promisify(execFile);
const env = { ...process.env, NO_COLOR: '1' };
const command = (name: string, file: string): string => join(folder, 'node_modules', name, file);

let output = '';
let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  const docs = [[command('typedoc', 'bin/typedoc')], [command('vitepress', 'bin/vitepress.js'), 'build']];
  for (const args of docs) {
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder, env });
    output += stdout + stderr;
  }
  pages = new Map(
    globSync('**/*.html', { cwd: dist }).map((path) => [`/${path}`, readFileSync(join(dist, path), 'utf8')]),
  );
});

test('the site is built without a warning', () => {
  expect(output).toMatch(/build complete/);
  expect(output.split('\n').filter((line) => /warn|error|\(!\)/i.test(line))).toEqual([]);
});

test('the pages are the first page, the guide, the packages and the reference', () => {
  const expected = ['/index.html', '/docs/guide/express.html', '/docs/going-to-production.html'];
  const generated = ['/packages/inbox/index.html', '/reference/@payment-service/core/client.html'];
  expect([...pages.keys()]).toEqual(expect.arrayContaining([...expected, ...generated]));
  const unpublished = [...pages.keys()].filter((path) => /node_modules|internal|\/api\//.test(path));
  expect(unpublished).toEqual([]);
});

test('every link of every page leads to a page or a heading of the site, or to the repository', () => {
  expect([...pages].flatMap(([path, html]) => brokenLinks(path, html, pages))).toEqual([]);
});

test('control: links to a missing page, to a missing heading and to another place are reported', () => {
  const broken = ['#b', '/none', './x#c', 'https://other.example/'];
  const links = ['#a', ...broken].map((href) => `<a href="${href}"></a>`).join('');
  const html = `<h2 id="a"></h2>${links}`;
  const found = brokenLinks('/x.html', html, new Map([['/x.html', html]]));
  expect(found).toEqual(broken.map((href) => `/x.html: ${href}`));
});

test('every document is in the sidebar', () => {
  const home = pages.get('/index.html') ?? '';
  const documents = [...pages.keys()].filter((path) => /^\/docs\/(?!guide\/index)/.test(path));
  expect(documents.length).toBeGreaterThan(20);
  expect(documents.filter((path) => !home.includes(`href="${path}"`))).toEqual([]);
});

test('a page asks no other host for anything, logs no error, and its search finds a heading', async () => {
  const server = createServer(({ url = '/' }, response) => {
    const path = posix.join('/', decodeURI(new URL(url, 'http://localhost').pathname));
    const file = path.endsWith('/') ? `${path}index.html` : path;
    const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };
    const type = Object.entries(types).find(([ending]) => file.endsWith(`.${ending}`))?.[1];
    if (type !== undefined) response.setHeader('content-type', type);
    response.end(readFileSync(join(dist, file)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const foreign: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) foreign.push(url);
    });
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`${origin}/docs/guide/signature.html`, { waitUntil: 'networkidle' });
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('key has leaked');
    await page.getByRole('option').filter({ hasText: 'A key has leaked' }).first().waitFor();
    expect({ foreign, errors }).toEqual({ foreign: [], errors: [] });
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
});

/** Links of a page to a page of the site, or to a heading, that is not there, and links to other places. */
function brokenLinks(path: string, html: string, site: ReadonlyMap<string, string>): readonly string[] {
  return [...html.matchAll(/<a\b[^>]*\bhref="([^"]+)"/g)].flatMap(([, href = '']) => {
    const url = new URL(href.replaceAll('&amp;', '&'), `http://site${path}`);
    if (href.startsWith(`${homepage}/`)) return []; // The repository's own rules check these.
    if (url.host !== 'site') return [`${path}: ${href}`];
    const file = decodeURI(url.pathname).replace(/\/$/, '/index.html');
    const page = site.get(file) ?? site.get(`${file}.html`);
    const id = decodeURIComponent(url.hash.slice(1));
    const isThere = page !== undefined && (id === '' || page.includes(`id="${id}"`));
    return isThere ? [] : [`${path}: ${href}`];
  });
}
