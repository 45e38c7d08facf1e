/** The short form of the rehearsal: one row and one control, from their own registry. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireThirdPartyRegistry } from '../src/rehearsal/registry.ts';
import { judge, runRehearsal } from '../src/rehearsal/rehearse.ts';
import { ROWS, type Row } from '../src/rehearsal/rows.ts';

const row = (name: string): Row => {
  const found = ROWS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no row ${name}.`);
  return found;
};

test('the released packages work in a fresh project on Express 5, and two copies of core are noticed', async () => {
  const outcomes = await runRehearsal([row('express5'), row('control-copies')], () => {});
  expect(outcomes.map((one) => [one.row.name, one.problems])).toEqual([
    ['express5', []],
    ['control-copies', []],
  ]);
  expect(outcomes[0]?.installed).toEqual([expect.stringMatching(/^express 5\./)]);
});

test('a registry of third-party packages that is out of reach fails the rehearsal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rehearsal-'));
  try {
    await writeFile(join(folder, '.npmrc'), 'registry=http://127.0.0.1:1/\n');
    await expect(requireThirdPartyRegistry(folder)).rejects.toThrow(
      /npm view .* ended with 1:[\s\S]*ECONNREFUSED/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a control must fail, and for its own reason', () => {
  const control = row('control-copies');
  expect(judge(control, ['the error is that of core: false, not true'])).toEqual([]);
  expect(judge(control, [])).toEqual(['it passed, but is a control that must fail']);
  expect(judge(control, ['npm install ended with 1'])).toEqual([
    'it failed for another reason:',
    'npm install ended with 1',
  ]);
  expect(judge(row('express5'), ['genuine: 500'])).toEqual(['genuine: 500']);
});

test('every row has its own name', () => {
  const names = ROWS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
