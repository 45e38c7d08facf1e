import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const contractFile = fileURLToPath(import.meta.resolve('@payment-service/openapi/payment-service.yaml'));
const contractText = readFileSync(contractFile, 'utf8');
const scratch = mkdtempSync(join(tmpdir(), 'contract-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function check(file: string): { status: number | null; stderr: string } {
  const generator = fileURLToPath(new URL('../generate.ts', import.meta.url));
  return spawnSync(process.execPath, [generator, '--check', file], { encoding: 'utf8' });
}

describe('the generated types', () => {
  test('match the contract', () => {
    expect(check(contractFile)).toMatchObject({ status: 0, stderr: '' });
  });

  test('control: a changed contract is reported', () => {
    const changed = join(scratch, 'changed.yaml');
    writeFileSync(changed, contractText.replace('bank_name: { type: string', 'bank_name: { type: number'));
    expect(check(changed)).toMatchObject({ status: 1, stderr: expect.stringContaining('pnpm generate') });
  });
});
