import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { misbehaviours } from '../src/deliveries/misbehaviours.ts';
import { fieldsOf } from '../src/service/request-schemas.ts';
import { defaultRetry } from '../src/state/retries.ts';
import { collection, payout } from './support/api.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const RETRY = [...Object.keys(defaultRetry), 'preset'];
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const provider = {
  provider_code: 'example_mobile_money',
  transaction_currency: 'UGX',
  transaction_type: 'COLLECTION',
};
const SETTINGS = ['callback_url', 'redirect_url', 'order_url', 'inbox_url', 'misbehave', 'retry'];

test.each<[method: string, path: string, sent: object, fields: readonly string[]]>([
  ['POST', 'collections', collection, [...fieldsOf('collection').keys()]],
  ['POST', 'payouts', payout, [...fieldsOf('payout').keys()]],
  ['POST', 'transfers', { currency: 'UGX', amount: 1 }, [...fieldsOf('transfer').keys()]],
  ['PUT', 'settings', {}, [...SETTINGS, 'api_latency_ms', 'api_error']],
  ['PUT', 'providers', provider, [...Object.keys(provider), 'is_active', 'min_amount', 'max_daily_amount']],
  ['PUT', 'banks', { provider_code: 'a', bank_code: 'b', is_active: true }, ['bank_code', 'is_active']],
  ['POST', 'clock', {}, ['advance_seconds']],
  ['POST', 'deliveries/resend-failed', {}, ['since']],
  ['POST', 'check', {}, ['callback_url']],
  ['POST', 'transactions/1001/outcome', {}, ['outcome']],
])(
  '%s /sandbox/%s refuses each field of another type by its name, in words of its own',
  async (method, path, sent, fields) => {
    for (const field of fields) {
      const { status, body } = await stage.call(method, `/sandbox/${path}`, { ...sent, [field]: [null] });
      expect([field, status, body.data['field']]).toEqual([field, 400, field]);
      expect(body.message).toMatch(new RegExp(`^${field}: must be `));
      expect(body.message).not.toMatch(/received|expected/);
    }
  },
);

test('settings refuse null for misbehaviours and retries, and say what switches them off', async () => {
  const put = async (body: object) => (await stage.call('PUT', '/sandbox/settings', body)).body;
  await put({ misbehave: { duplicate: 1 }, retry: { max_attempts: 2 } });
  expect((await put({ misbehave: null })).message).toBe(
    'misbehave: must be an object, such as {"duplicate": 1}; {} switches it off',
  );
  expect((await put({ retry: null })).message).toBe(
    'retry: must be an object, such as {"max_attempts": 3}; {} is the default',
  );
  expect((await put({ misbehave: {}, retry: {} })).data).toMatchObject({ misbehave: {}, retry: {} });
});

test('each misbehaviour and each retry rule of another type is refused by its name, in words of its own', async () => {
  const rules = [...misbehaviours.keys(), ...RETRY];
  for (const name of rules) {
    const kind = misbehaviours.has(name) ? 'misbehave' : 'retry';
    const { body } = await stage.call('PUT', '/sandbox/settings', { [kind]: { [name]: { not: null } } });
    if (name === 'extra_fields') expect(body.code).toBe(200);
    else expect(body.message).toMatch(new RegExp(`^${kind}\\.${name}: must be (?!.*received)`));
  }
});

test('the README has a row for each field of a collection and each retry rule, and for no other', () => {
  const rowsBelow = (heading: string): string[] => {
    const [, table = ''] = readme.split(heading);
    const [rows = ''] = table.split('\n\n');
    return [...rows.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)\??`/g)].map(([, name = '']) => name),
    );
  };
  expect(rowsBelow('A collection:\n\n').sort()).toEqual([...fieldsOf('collection').keys()].sort());
  expect(rowsBelow('| `retry` | default | |').sort()).toEqual(RETRY.toSorted());
});
