import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleCallback } from '@payment-service/core/testing';
import { judge } from '@payment-service/durability';
import { afterAll, describe, expect, test } from 'vitest';
import { callbackBodies } from '../src/callback-bodies.ts';
import { writeDocs } from '../src/write-docs.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the document', () => {
  const report = {
    date: '2026-11-21T10:00:00.000Z',
    environment: { node: 'v24.21.0', platform: 'linux', cores: 2, memoryGiB: 8 },
    results: [judge('steady', 'ratio', 1, 'at most', 2), judge('slow', 'ratio', 3, 'at most', 2)],
    tables: [{ title: 'Speed', head: ['', 'calls/s'], rows: [['core', '$1']] }],
  };

  test('the figures go between its two marks, and the rest of it stays', async () => {
    const path = join(folder, 'document.md');
    writeFileSync(path, 'Before.\n<!-- bench -->\nold\n<!-- end of bench -->\nAfter.\n');
    await writeDocs(path, 'bench', report);
    const written = readFileSync(path, 'utf8');
    expect(written).toMatch(/^Before\.\n<!-- bench -->\n\n2026-11-21, Node 24\.21\.0, linux, 2 cores\./);
    expect(written).toContain('### Speed\n\n|  | calls/s |\n| --- | ---: |\n| core | $1 |\n');
    expect(written).toMatch(/<!-- end of bench -->\nAfter\.\n$/);
    expect(written).not.toContain('old');
    expect(written).toContain('1 of 2 targets are met.');
    expect(written.match(/^\| (steady|slow) .*$/gm)).toEqual([
      '| slow | 3 |  | at most 2 | ratio | MISSED |',
    ]);
  });

  test('a document without the marks is an error', async () => {
    const path = join(folder, 'other.md');
    writeFileSync(path, 'No marks.');
    await expect(writeDocs(path, 'bench', report)).rejects.toThrow('has no place for figures');
  });
});

describe('the bodies', () => {
  test.each([
    ['small', 100, 300],
    ['typical', 400, 800],
    ['60 KiB', 61_440, 61_440],
  ] as const)('%s bodies are equally long, each with its own reference', (size, least, most) => {
    const bodies = callbackBodies(size, { sampleCallback });
    const [length = 0, ...others] = new Set(bodies.map((body) => body.length));
    expect(others).toEqual([]);
    expect(length).toBeGreaterThanOrEqual(least);
    expect(length).toBeLessThanOrEqual(most);
    const references = bodies.map((body) => JSON.parse(String(body)).payload.merchant_reference);
    expect(new Set(references).size).toBe(64);
  });
});
