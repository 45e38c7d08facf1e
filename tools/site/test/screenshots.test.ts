import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { takeScreenshots } from '../src/screenshots.ts';

const PICTURES = fileURLToPath(new URL('../../../docs/pictures', import.meta.url));

test('twelve pictures are written, and docs/pictures holds the same ones', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'screenshots-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const names = await takeScreenshots(folder);
  expect(names).toHaveLength(12);
  const files = names.map((name) => `${name}.png`).sort();
  expect(readdirSync(folder).sort()).toEqual(files);
  expect(readdirSync(PICTURES).sort()).toEqual(files);
  for (const file of files) {
    const bytes = readFileSync(join(folder, file));
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
    // A picture of an empty page of this size has less than 10 kB.
    expect(bytes.length, file).toBeGreaterThan(15_000);
  }
});
