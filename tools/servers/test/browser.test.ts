import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startBrowser } from '../src/browser/start-browser.ts';
import { unpackedChromium } from '../src/browser/unpacked-chromium.ts';

test('the browser runs the scripts of a page on loopback and draws its letters', async () => {
  const origin = await serve(
    '<title>before</title><p><span>letters</span><code>iiii</code><code>MMMM</code><script>document.title = "after"</script>',
  );
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(origin);
  expect(await page.title()).toBe('after');
  // Without a font, letters have no width.
  const width = await page.locator('span').evaluate((element) => element.getBoundingClientRect().width);
  expect(width).toBeGreaterThan(0);
  // Code is drawn with a monospaced font: aligned columns stay aligned.
  const [narrow, wide] = await page
    .locator('code')
    .evaluateAll((codes) => codes.map((element) => element.getBoundingClientRect().width));
  expect(narrow).toBe(wide);
});

test('the browser accesses no address outside loopback', async () => {
  const browser = await startBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  for (const url of ['http://example.com/', 'http://192.0.2.1/', 'http://[2001:db8::1]/'])
    await expect(page.goto(url), url).rejects.toThrow('ERR_NAME_NOT_RESOLVED');
});

test('if no browser can be started, the error says so and names what to install', async () => {
  const missing = { executablePath: join(tmpdir(), 'no-such-browser') };
  await expect(startBrowser(missing)).rejects.toThrow(
    /^No browser could be started, .*(Install|needs glibc)/,
  );
});

// The browser of the tests above has been unpacked. To unpack three more takes ten seconds.
test('of three that unpack at the same time, one leaves its copy for all', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'payment-service-browser-test-'));
  onTestFinished(() => rmSync(cache, { recursive: true }));
  const folders: string[] = [];
  const all = Promise.withResolvers<void>();
  const unpack = async (folder: string): Promise<void> => {
    folders.push(folder);
    if (folders.length === 3) all.resolve();
    await all.promise;
    writeFileSync(join(folder, 'chromium'), folder);
  };
  const unpacked = await Promise.all([1, 2, 3].map(() => unpackedChromium(cache, unpack)));
  expect(new Set(unpacked.map(({ program }) => program)).size).toBe(1);
  expect(folders).toContain(readFileSync(unpacked[0]?.program ?? '', 'utf8'));
  expect(readdirSync(cache)).toEqual([expect.stringMatching(/^chromium-\d/)]);
});

async function serve(html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/`;
}
