import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleCallback } from '@payment-service/core/testing';
import { judge, type Report } from '@payment-service/durability';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callbackBodies } from '../src/callback-bodies.ts';
import { FRAMEWORKS, WAYS } from '../src/http.ts';
import { VERIFY_TARGETS } from '../src/verify.ts';
import { writeDocs } from '../src/write-docs.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a short run of all parts, with every package packed as it is published', () => {
  let output = '';
  let report: Report;

  beforeAll(() => {
    const path = join(folder, 'reports', 'bench.json');
    const program = join(import.meta.dirname, '..', 'src', 'bench.ts');
    const run = spawnSync(process.execPath, [program, '--short', '--report', path], { encoding: 'utf8' });
    output = run.stdout;
    expect({ status: run.status, stderr: run.status === 0 ? '' : run.stderr }).toEqual({
      status: 0,
      stderr: '',
    });
    report = JSON.parse(readFileSync(path, 'utf8'));
  });

  /** The names of the rows of the first table whose title starts with the given text. */
  function rowsOf(title: string): readonly string[] {
    const table = report.tables.find((one) => one.title.startsWith(title));
    return table?.rows.map(([name = '']) => name) ?? [];
  }

  /** The rest of a target's name after the given start, and its bound. */
  function targets(start: string): readonly string[][] {
    return report.results
      .filter(({ name }) => name.startsWith(start))
      .map(({ name, bound, target }) => [name.slice(start.length), `${bound} ${target}`]);
  }

  test('the report has a name, a date and a verdict for every target', () => {
    expect(report.name).toBe('bench');
    expect(new Date(report.date).toISOString()).toBe(report.date);
    expect(report.isShort).toBe(true);
    for (const { value, bound, target: wanted, met } of report.results) {
      const target = Number(wanted);
      expect(target).toBeGreaterThan(0);
      // JSON has null for NaN.
      expect(met).toBe(value !== null && (bound === 'at most' ? value <= target : value >= target));
    }
    const count = (part: string): number => report.results.filter(({ name }) => name.startsWith(part)).length;
    expect({
      verify: count('verify: '),
      weight: count('weight: '),
      http: count('http: '),
      client: count('client: '),
      all: report.results.length,
    }).toEqual({
      verify: VERIFY_TARGETS.length,
      weight: 8,
      http: FRAMEWORKS.length * 3,
      client: 2,
      all: VERIFY_TARGETS.length + 25,
    });
  });

  test('core is measured with both of its digests, compared with its peers', () => {
    const table = report.tables.find(({ title }) => title.startsWith('Verification of a typical body'));
    expect(table?.rows.map(([name]) => name)).toEqual([
      'floor',
      'core',
      'stripe',
      'core, all read',
      'portable',
      'standardwebhooks',
      'svix',
      'octokit',
      'recipe',
    ]);
    expect(table?.rows.find(([name]) => name === 'core')?.at(-1)).toContain('node:crypto');
    expect(table?.rows.find(([name]) => name === 'portable')?.at(-1)).toContain('@noble/hashes');
  });

  test('every framework is measured bare, with a check by hand, at the limit and with its adapter', () => {
    const names = FRAMEWORKS.flatMap((framework) => WAYS.map((way) => `${framework}, ${way}`));
    expect(rowsOf('HTTP')).toEqual(names);
    expect(rowsOf('Memory')).toEqual(names);
    for (const framework of FRAMEWORKS)
      expect(targets(`http: ${framework}, ours over `)).toEqual([
        ['limit, processor time', 'at most 1.2'],
        ['by hand, processor time', 'at most 1'],
        ['bare, heap of an idle connection', 'at most 1.05'],
      ]);
  });

  test('every entry and adapter is imported, compared with the peers', () => {
    const adapters = ['express', 'fastify', 'fetch', 'koa'];
    const peers = ['stripe', 'svix', 'standardwebhooks', '@octokit/webhooks-methods', '@octokit/webhooks'];
    const entries = ['core', 'core/receive', 'core/client', ...adapters, ...peers];
    expect(rowsOf('Cold import')).toEqual([...entries, 'node:crypto']);
    for (const name of adapters)
      expect(targets(`weight: import of ${name} `)).toEqual([
        ['over standardwebhooks', 'at most 2.5'],
        ['without node:crypto', 'at most 5'],
      ]);
  });

  test('the output shows every row of the report', () => {
    const lines = output.split('\n').map((line) => line.trim());
    const names = [
      ...report.results.map(({ name }) => name),
      ...report.tables.flatMap(({ rows }) => rows.map(([name]) => name)),
    ];
    for (const name of names) expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true);
  });
});

describe('the command', () => {
  test('refuses a part that does not exist', () => {
    const program = join(import.meta.dirname, '..', 'src', 'bench.ts');
    const run = spawnSync(process.execPath, [program, 'speed', '--short'], { encoding: 'utf8' });
    expect(run.status).toBe(2);
    expect(run.stderr).toContain('There is no part "speed": choose from verify, weight, http, client.');
  });
});

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
