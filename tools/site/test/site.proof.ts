/** Builds the site as `pnpm site` does. These tests check in the finished pages what the build cannot. */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, startBrowser } from '@payment-service/servers/browser';
import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

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

test('the pages are the landing page, the overview, the guide, the packages and the reference', () => {
  const expected = ['/index.html', '/overview.html', '/docs/guide/nextjs.html'];
  const generated = ['/packages/inbox/index.html', '/reference/@payment-service/core/client.html'];
  expect([...pages.keys()]).toEqual(expect.arrayContaining([...expected, ...generated]));
  const unpublished = [...pages.keys()].filter((path) => /node_modules|internal|\/api\//.test(path));
  expect(unpublished).toEqual([]);
});

test('every link of every page leads to a page or a heading of the site, or to the repository', () => {
  expect([...pages].flatMap(([path, html]) => brokenLinks(path, html, pages))).toEqual([]);
});

test('control: links to a missing page, to a missing heading and to another place are reported', () => {
  const broken = ['#b', '/none', './x#c', '/assets/none.png', 'https://other.example/'];
  const links = ['#a', ...broken].map((href) => `<a href="${href}"></a>`).join('');
  const html = `<h2 id="a"></h2>${links}`;
  const found = brokenLinks('/x.html', html, new Map([['/x.html', html]]));
  expect(found).toEqual(broken.map((href) => `/x.html: ${href}`));
});

test('every document is in the sidebar', () => {
  const home = pages.get('/overview.html') ?? '';
  const documents = [...pages.keys()].filter((path) => /^\/docs\/(?!(?:guide|handbook)\/index)/.test(path));
  expect(documents.length).toBeGreaterThan(20);
  expect(documents.filter((path) => !home.includes(`href="${path}"`))).toEqual([]);
});

test('every page exists as Markdown next to its HTML, and llms.txt lists those of the navigation after the rules', () => {
  const markdown = new Map(
    [...globSync('**/*.md', { cwd: dist }), 'llms.txt'].map((path) => [
      `/${path}`,
      readFileSync(join(dist, path), 'utf8'),
    ]),
  );
  const onlyToLookAt = ['/index.html', '/404.html'];
  const without = [...pages.keys()].filter(
    (path) => !onlyToLookAt.includes(path) && !markdown.has(markdownOf(path)),
  );
  expect(without).toEqual([]);
  const links = [...markdown].flatMap(([path, text]) =>
    [...text.matchAll(/\]\((\/[^)\s#]+)/g)].map(([, link = '']) => `${path}: ${link}`),
  );
  expect(links.length).toBeGreaterThan(300);
  expect(links.filter((link) => !markdown.has(link.split(': ')[1] ?? ''))).toEqual([]);
  const list = markdown.get('/llms.txt') ?? '';
  expect(list).toMatch(
    /^# Payment service SDK for TypeScript\n\n> It verifies what the payment service reports and credits each payment once/,
  );
  expect(list).toContain('1. **The amount is unsigned.**');
  expect(list).toContain('- [Troubleshooting](/docs/troubleshooting.md)');
});

describe('in a browser', () => {
  let origin: string;
  let browser: Browser;
  let server: Server;

  beforeAll(async () => {
    server = createServer(({ url = '/' }, response) => {
      const path = posix.join('/', decodeURI(new URL(url, 'http://localhost').pathname));
      const file = path.endsWith('/') ? `${path}index.html` : path;
      const types = {
        html: 'text/html',
        js: 'text/javascript',
        css: 'text/css',
        svg: 'image/svg+xml',
        png: 'image/png',
      };
      const found = existsSync(join(dist, file)) ? file : '404.html';
      const type = Object.entries(types).find(([ending]) => found.endsWith(`.${ending}`))?.[1];
      if (type !== undefined) response.setHeader('content-type', type);
      response.statusCode = found === file ? 200 : 404;
      response.end(readFileSync(join(dist, found)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });

  test('a page asks no other host, logs no error, and what a reader searches for leads to the right page', async () => {
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
    const searches = {
      'key has leaked': '/docs/guide/key-rotation.html',
      webhook: '/docs/guide/',
      troubleshooting: '/docs/troubleshooting.html',
      refund: '/docs/guide/recipes.html',
      ngrok: '/docs/guide/local-development.html',
    };
    for (const [text, expected] of Object.entries(searches)) {
      await page.getByRole('searchbox').fill(text);
      // The first three are visible.
      const links = page.getByRole('option');
      const found = () =>
        links.evaluateAll((all) => all.slice(0, 3).map((one) => one.getAttribute('href') ?? ''));
      await expect
        .poll(async () => ({ text, found: (await found()).map((link) => link.split('#')[0]) }))
        .toEqual({ text, found: expect.arrayContaining([expected]) });
    }
    expect({ foreign, errors }).toEqual({ foreign: [], errors: [] });
  });

  test.each(['light', 'dark'] as const)(
    'in a %s landing page, a changed amount verifies and is refused, and a changed reference does not verify',
    async (colorScheme) => {
      const page = await browser.newPage({ colorScheme });
      await page.goto(origin, { waitUntil: 'networkidle' });
      const verdicts = page.getByRole('status').getByRole('definition');
      const violations = (): Promise<unknown> => violationsIn(page);
      expect(await verdicts.allTextContents()).toEqual(['Verified.', 'Paid: UGX 500.']);
      await page.getByRole('textbox', { name: 'transaction_amount' }).fill('5000000');
      expect(await verdicts.allTextContents()).toEqual([
        'Verified.',
        expect.stringMatching(/^Refused: amount_mismatch\. .*transaction_amount \(different\)/),
      ]);
      expect(await violations()).toEqual([]);
      await page.getByRole('button', { name: 'The reference' }).press('Enter');
      expect(await page.getByRole('textbox', { name: 'merchant_reference' }).inputValue()).toBe('ORD-1002');
      expect(await verdicts.allTextContents()).toEqual([
        expect.stringMatching(/^Refused: mismatch\./),
        'Not compared.',
      ]);
      expect(await violations()).toEqual([]);
    },
  );

  test.each([
    ['light', 1280],
    ['light', 390],
    ['dark', 1280],
    ['dark', 390],
  ] as const)(
    'axe finds no violation in %s pages of each kind, %i pixels wide, with the search open, and on the page that is missing',
    async (colorScheme, width) => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      const kinds = {
        start: '/',
        overview: '/overview.html',
        guide: '/docs/guide/signature.html',
        'long, with tables and charts': '/docs/benchmarks.html',
        package: '/packages/inbox/',
        reference: '/reference/@payment-service/core.html',
        missing: '/none.html',
      };
      const found: Record<string, unknown> = {};
      for (const [kind, path] of Object.entries(kinds)) {
        await page.goto(`${origin}${path}`, { waitUntil: 'networkidle' });
        found[kind] = await violationsIn(page);
      }
      await page.goto(`${origin}${kinds.guide}`, { waitUntil: 'networkidle' });
      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox').waitFor();
      found['search'] = await violationsIn(page);
      await page.getByRole('searchbox').fill('amount');
      await page.getByRole('option').first().waitFor();
      found['results'] = await violationsIn(page);
      expect(found).toEqual(Object.fromEntries(Object.keys(found).map((kind) => [kind, []])));
      await page.close();
    },
  );

  test('at 1280 pixels no code scrolls sideways, no diagram wraps, no page is taller than 12,000, and pictures can be read', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const found: string[] = [];
    const links = new Set<string>();
    for (const path of pages.keys()) {
      await page.goto(`${origin}${path}`, { waitUntil: 'load' });
      const { height, wide, wrapped, pictures } = await page.evaluate<Measured>(`(${measured})()`);
      if (height > 12_000) found.push(`${path}: ${height} pixels tall`);
      found.push(...wide.map((line) => `${path}: scrolls: ${line}`));
      found.push(...wrapped.map((line) => `${path}: wraps: ${line}`));
      for (const { name, textHeight, link } of pictures)
        if (link !== null) links.add(link);
        else if (!(textHeight >= 11)) found.push(`${path}: ${name} has text of ${textHeight} pixels`);
    }
    expect(found).toEqual([]);
    expect(links.size).toBeGreaterThanOrEqual(4);
    for (const link of links) {
      const answer = await fetch(link);
      expect([link, answer.status, answer.headers.get('content-type')]).toEqual([link, 200, 'image/png']);
    }
    await page.setViewportSize({ width: 800, height: 900 });
    await page.setContent(
      '<main class="vp-doc"><pre style="overflow: auto; width: 100px"><span class="line">a control that is long</span></pre><img src="data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%22100%22 height=%2250%22%3E%3Cstyle%3Etext%7Bfont:12px x%7D%3C/style%3E%3C/svg%3E" width="50"></main>',
    );
    const control = await page.evaluate<Measured>(`(${measured})()`);
    expect(control.wide).toEqual(['a control that is long']);
    expect(control.pictures).toEqual([expect.objectContaining({ textHeight: 6, link: null })]);
  });

  test('on a phone, code that scrolls is reached by the keyboard', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    for (const path of ['/docs/guide/signature.html', '/ARCHITECTURE.html']) {
      await page.goto(`${origin}${path}`, { waitUntil: 'load' });
      const places = await page.evaluate<readonly number[]>(
        `[...document.querySelectorAll('.vp-doc pre')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.tabIndex)`,
      );
      expect(places.length).toBeGreaterThan(0);
      expect(places.filter((place) => place !== 0)).toEqual([]);
    }
  });

  test('a link to a folded part of a long page opens that part, from outside the page and within it', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const path = '/packages/messages.html';
    const ids = [...(pages.get(path) ?? '').matchAll(/<h3 id="([^"]+)"/g)].map(([, id = '']) => id);
    const [first, last] = [ids[0] ?? '', ids.at(-1) ?? ''];
    expect(last.length).toBeGreaterThan(10);
    const heading = (id: string) => page.locator(`h3[id="${id}"]`);
    const isInView = async (id: string) => {
      const y = (await heading(id).boundingBox())?.y ?? -1;
      return y >= 0 && y < 900;
    };
    await page.goto(`${origin}${path}`, { waitUntil: 'networkidle' });
    expect(await heading(last).isVisible()).toBe(false);
    await page.goto(`${origin}/overview.html`, { waitUntil: 'networkidle' });
    await page.goto(`${origin}${path}#${last}`, { waitUntil: 'networkidle' });
    await expect.poll(() => isInView(last)).toBe(true);
    await page.evaluate(
      `document.querySelector('.vp-doc').insertAdjacentHTML('afterbegin', '<a class="control" href="#${first}">control</a>')`,
    );
    expect(await heading(first).isVisible()).toBe(false);
    await page.locator('a.control').click();
    await expect.poll(() => isInView(first)).toBe(true);
  });

  test('without script, the landing page says what happens to both changes', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(origin);
    const rows = await page.locator('tbody tr').allInnerTexts();
    expect(rows.map((row) => row.split(/\s*\t\s*/))).toEqual([
      ['Nothing', 'Verified', 'Paid: UGX 500'],
      ['The amount: 5000000', 'Verified', 'Refused: amount_mismatch'],
      ['The reference: ORD-1002', 'Refused: mismatch', 'Not compared'],
    ]);
  });

  test('no page is wider than a phone of 390 pixels', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 }, javaScriptEnabled: false });
    const wide = async (path: string): Promise<readonly string[]> => {
      await page.goto(`${origin}${path}`, { waitUntil: 'load' });
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      return width > 390 ? [`${path}: ${width}`] : [];
    };
    const found: string[] = [];
    for (const path of pages.keys()) found.push(...(await wide(path)));
    expect(found).toEqual([]);
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<p style="width:500px">control</p>')`,
    );
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeGreaterThan(390);
  });
});

type Page = Awaited<ReturnType<Browser['newPage']>>;

async function violationsIn(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))',
  );
}

/** What the program below finds in a page; the height of a text in CSS pixels, and what the picture's link leads to. */
interface Measured {
  readonly height: number;
  readonly wide: readonly string[];
  readonly wrapped: readonly string[];
  readonly pictures: readonly {
    readonly name: string;
    readonly textHeight: number;
    readonly link: string | null;
  }[];
}

const measured = `() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const height = document.documentElement.scrollHeight;
  for (const closed of all('details')) closed.open = true;
  const wide = all('.vp-doc pre').filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText);
  const wrapped = all('.vp-doc pre .line').filter((one) => /[─│→]/.test(one.innerText) && one.offsetHeight > 30)
    .map((one) => one.innerText);
  const smallest = (image) => {
    const source = image.src.startsWith('data:image/svg+xml;base64,') ? atob(image.src.split(',')[1]) : decodeURIComponent(image.src);
    const sizes = [...source.matchAll(/font(?:-size)?: ?([0-9.]+)px/g)].map(([, size]) => Number(size));
    return Math.min(...sizes) * image.clientWidth / image.naturalWidth;
  };
  const pictures = all('.vp-doc img').map((image) => ({
    name: image.alt,
    link: image.closest('a')?.href ?? null,
    textHeight: image.src.endsWith('.png') ? 0 : smallest(image),
  }));
  return { height, wide, wrapped, pictures };
}`;

/** The Markdown next to a page. */
function markdownOf(path: string): string {
  return path.replace(/\.html$/, '.md');
}

/** A page's links to missing pages or headings of the site, and its links to other sites. */
function brokenLinks(path: string, html: string, site: ReadonlyMap<string, string>): readonly string[] {
  return [...html.matchAll(/<a\b[^>]*\bhref="([^"]+)"/g)].flatMap(([, href = '']) => {
    const url = new URL(href.replaceAll('&amp;', '&'), `http://site${path}`);
    if (href.startsWith(`${homepage}/`)) return []; // The repository's own rules check these.
    if (url.host !== 'site') return [`${path}: ${href}`];
    // A picture at its full size.
    if (/^\/assets\/.+\.png$/.test(url.pathname))
      return existsSync(join(dist, url.pathname)) ? [] : [`${path}: ${href}`];
    const file = decodeURI(url.pathname).replace(/\/$/, '/index.html');
    const page = site.get(file) ?? site.get(`${file}.html`);
    const id = decodeURIComponent(url.hash.slice(1));
    const isThere = page !== undefined && (id === '' || page.includes(`id="${id}"`));
    return isThere ? [] : [`${path}: ${href}`];
  });
}
