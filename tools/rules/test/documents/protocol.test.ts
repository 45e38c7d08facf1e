/**
 * The facts of docs/protocol.md that determine behaviour, as literals: code cites the clause, and nothing else checks the
 * clause.
 */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { fileAt } from '../../src/repository.ts';

const { text } = fileAt('docs/protocol.md');
const { components } = parse(fileAt('openapi/payment-service.yaml').text);

/** The text of a clause on one line, up to the next heading. */
function clause(number: string): string {
  const [, after = ''] = text.split(new RegExp(`^#+ ${number.replace('.', '\\.')}\\.? .*$`, 'm'));
  return after.split(/^#/m)[0]?.replace(/\s+/g, ' ') ?? '';
}

/** The first cells of the tables of a clause. */
const fieldsOf = (number: string): readonly string[] =>
  [...clause(number).matchAll(/\| `(\w+)` \|/g)].map(([, name = '']) => name);

const FACTS: readonly (readonly [number: string, fact: string])[] = [
  ['4', 'Every request that is shown sends `Accept: application/json` and `x-api-version: 1`.'],
  ['4.1', '`GET {base_url}/data/payment-providers`'],
  ['4.2', '`GET {base_url}/data/payout-bank-codes`'],
  ['4.2', '`provider_code` (string, required)'],
  ['4.3', '`GET {base_url}/data/wallet-balances`'],
  ['4.3', '`public-key` and `secret-key`, both required.'],
  ['5.2', 'in the HTTP header `hmac-signature`, a redirect in the query parameter `hmac_signature`.'],
  ['5.2', 'The value is `t=<timestamp>,s=<hmac_hash>`'],
  [
    '5.2',
    'Join `event`, `merchant_reference`, `internal_reference`, `transaction_type` and `transaction_status`, in this order,',
  ],
  ['5.2', 'Compute HMAC-SHA256 of that string, encoded in UTF-8'],
  ['5.2', 'The recommendation is a difference of at most 30 seconds between `t` and the current time.'],
  ['5.2', 'The sample signature has 64 lower-case hexadecimal digits.'],
  ['6', 'with `transaction_status` `COMPLETED` | a transaction completes successfully |'],
  ['7', 'An error has the envelope with `status` `error` and an empty `data`.'],
  ['7', 'A success has `code` 200, `status` `success`'],
];

test.each(FACTS)('protocol §%s says: %s', (number, fact) => {
  expect(clause(number)).toContain(fact);
});

test.each([
  ['2.2', 'PaymentProvider'],
  ['2.3', 'PayoutBank'],
  ['2.4', 'Wallet'],
  ['2.5', 'TransactionPayload'],
])('protocol §%s lists the fields of %s in the contract', (number, schema) => {
  expect(fieldsOf(number)).toEqual(components.schemas[schema].required);
});
