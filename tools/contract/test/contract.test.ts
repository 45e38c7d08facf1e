import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const contractFile = fileURLToPath(import.meta.resolve('@payment-service/openapi/payment-service.yaml'));
const contractText = readFileSync(contractFile, 'utf8');
const contract = parse(contractText);
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

const FIELDS = {
  PaymentProvider:
    'provider_name provider_code transaction_method transaction_method_name transaction_type transaction_currency ' +
    'min_amount max_amount max_daily_amount is_active option_prefixes',
  PayoutBank: 'bank_code bank_name is_active',
  Wallet: 'currency wallet_type available_balance actual_balance uncleared_balance reserve_balance',
  TransactionCallback: 'event payload',
  TransactionPayload:
    'id merchant_reference internal_reference transaction_type request_currency request_amount ' +
    'transaction_currency transaction_amount transaction_charge transaction_account customer_name charge_customer ' +
    'total_credit provider_code transaction_status status_message',
};

describe('the contract', () => {
  test.each(Object.entries(FIELDS))('names every field of %s, and requires it', (schema, fields) => {
    const { properties, required } = contract.components.schemas[schema];
    expect(Object.keys(properties)).toEqual(fields.split(' '));
    expect(required).toEqual(fields.split(' '));
  });

  test('describes the redirect by the one query parameter that is shown', () => {
    const { parameters } = contract.webhooks.transactionRedirect.get;
    expect(parameters).toMatchObject([{ name: 'hmac_signature', in: 'query', required: true }]);
  });

  test('describes the callback with its signature header', () => {
    const { post } = contract.webhooks.transactionCallback;
    expect(post.parameters[0]).toMatchObject({ name: 'hmac-signature', in: 'header', required: true });
    expect(Object.keys(post.requestBody.content['application/json'].example.payload)).toHaveLength(16);
  });
});
