import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addresses as consoleAddresses } from '@payment-service/inbox/console/addresses';
import { root } from '@payment-service/release/toolchains';
import { createSandbox } from '@payment-service/sandbox';
import { addresses as sandboxAddresses } from '@payment-service/sandbox/addresses';
import { examplesOf } from '@payment-service/servers/examples';
import { startShop } from '@payment-service/shop/start-shop';
import { expect, onTestFinished, test } from 'vitest';
import { NOT_PICTURED, type Picture, takeScreenshots } from '../src/screenshots.ts';

const PICTURES = join(root, 'docs/pictures');

function newFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'screenshots-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The addresses of the shop, whose file may not be on a disk in memory. */
async function shopAddresses(): Promise<readonly string[]> {
  const { account, close: closeSandbox } = createSandbox();
  onTestFinished(closeSandbox);
  const file = join(newFolder(join(root, 'node_modules')), 'shop.sqlite');
  const config = { ...account, baseUrl: 'http://127.0.0.1:9', host: '127.0.0.1', port: 0, file };
  const { addresses, close } = await startShop('express', config);
  await close();
  return addresses;
}

/** The paths of the pictures of a program, by their addresses. */
function pathsOf(program: Picture['of'], pictures: readonly Picture[]): Record<string, string[]> {
  const paths: Record<string, string[]> = {};
  for (const { of, address, path } of pictures)
    if (of === program) paths[address] = [...(paths[address] ?? []), path];
  return paths;
}

test('twelve pictures are written, docs/pictures holds the same ones, and every page has a picture or a reason', async () => {
  const folder = newFolder(tmpdir());
  const pictures = await takeScreenshots(folder);
  expect(pictures).toHaveLength(12);
  const files = pictures.map(({ name }) => `${name}.png`).sort();
  expect(readdirSync(folder).sort()).toEqual(files);
  expect(readdirSync(PICTURES).sort()).toEqual(files);
  for (const file of files) {
    const bytes = readFileSync(join(folder, file));
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    // A picture of an empty page of this size has less than 10 kB.
    expect(bytes.length, file).toBeGreaterThan(15_000);
  }
  const tables = { sandbox: sandboxAddresses, console: consoleAddresses, shop: await shopAddresses() };
  for (const program of ['sandbox', 'console', 'shop'] as const) {
    const [pictured, reasons] = [pathsOf(program, pictures), NOT_PICTURED[program]];
    expect(Object.keys(reasons).filter((address) => Object.hasOwn(pictured, address))).toEqual([]);
    examplesOf(`The ${program}`, tables[program], { ...reasons, ...pictured });
  }
});
