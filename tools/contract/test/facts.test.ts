/**
 * The facts that the service shows, as literals: each fact once, so that a mistake in the contract cannot confirm itself. A
 * fault planted in one of them once passed every other test.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const contractFile = fileURLToPath(import.meta.resolve('@payment-service/openapi/payment-service.yaml'));
const contract = parse(readFileSync(contractFile, 'utf8'));

/** Every object in the contract, with its path. */
function* objectsIn(value: unknown, path = ''): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [name, member] of Object.entries(value)) yield* objectsIn(member, `${path}/${name}`);
}

const objects = [...objectsIn(contract)];
const { schemas } = contract.components;
interface Operation {
  readonly parameters: readonly { readonly name?: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: unknown;
}

/** A part of each endpoint, by its path. */
function ofEveryPath<T>(part: (get: Operation) => T): Readonly<Record<string, T>> {
  const paths = Object.entries<{ readonly get: Operation }>(contract.paths);
  return Object.fromEntries(paths.map(([path, { get }]) => [path, part(get)]));
}
const success = (path: string) => contract.paths[path].get.responses['200'].content['application/json'];

describe('protocol §5.1: request authentication', () => {
  test('the keys are sent in the headers public-key and secret-key', () => {
    expect(contract.components.securitySchemes).toMatchObject({
      publicKey: { type: 'apiKey', in: 'header', name: 'public-key' },
      secretKey: { type: 'apiKey', in: 'header', name: 'secret-key' },
    });
    expect(Object.keys(contract.components.securitySchemes)).toEqual(['publicKey', 'secretKey']);
  });

  test('the public key alone is the default, and the balance inquiry needs both keys together', () => {
    expect(contract.security).toEqual([{ publicKey: [] }]);
    expect(ofEveryPath(({ security }) => security)).toEqual({
      '/data/payment-providers': undefined,
      '/data/payout-bank-codes': undefined,
      '/data/wallet-balances': [{ publicKey: [], secretKey: [] }],
    });
  });

  test('callbacks and redirects send no key', () => {
    expect(contract.webhooks.transactionCallback.post.security).toEqual([]);
    expect(contract.webhooks.transactionRedirect.get.security).toEqual([]);
  });
});

test('protocol §9: x-api-version is a header that is sent with 1, and that no endpoint requires', () => {
  const { ApiVersion } = contract.components.parameters;
  expect(ApiVersion).toMatchObject({
    name: 'x-api-version',
    in: 'header',
    example: '1',
    schema: { 'x-known-values': ['1'] },
  });
  expect(ApiVersion).not.toHaveProperty('required');
  const reference = { $ref: '#/components/parameters/ApiVersion' };
  for (const parameters of Object.values(ofEveryPath((get) => get.parameters)))
    expect(parameters).toContainEqual(reference);
});

describe('the type of every value', () => {
  const schemas = objects.filter(([path]) => /\/(schema|items|(schemas|properties)\/\w+)$/.test(path));
  const withType = (name: string) => schemas.filter(([, { type }]) => type === name).map(([path]) => path);

  test('every schema has one type or a reference, and no value is null', () => {
    const types = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
    const untyped = schemas.filter(
      ([, { $ref, type }]) => $ref === undefined && !types.includes(String(type)),
    );
    expect(untyped.map(([path]) => path)).toEqual([]);
  });

  test('every parameter has a schema', () => {
    const parameters = objects.filter(([path]) => /\/parameters\/\w+$/.test(path));
    const untyped = parameters.filter(([, { $ref, schema }]) => $ref === undefined && schema === undefined);
    expect(untyped.map(([path]) => path)).toEqual([]);
  });

  test('whole numbers are the codes of responses and the id of a transaction, and no others', () => {
    expect(
      withType('integer').map((path) => path.replace(/^.*?(?=200|schemas)|\/content.*properties/g, '')),
    ).toEqual([
      ...['200/code', '200/code', '200/code'],
      ...['schemas/ErrorEnvelope/properties/code', 'schemas/TransactionPayload/properties/id'],
    ]);
  });

  test('every value with known values is a string', () => {
    const known = schemas.filter(([, schema]) => 'x-known-values' in schema).map(([path]) => path);
    expect(withType('string')).toEqual(expect.arrayContaining(known));
  });
});

describe('what is not shown stays open', () => {
  /** Keywords of JSON Schema that refuse a value, except `type` and `required`. */
  const CLOSING =
    /^(enum|const|not|oneOf|pattern|format|maxLength|minLength|minimum|maximum|exclusive\w+|multipleOf|maxItems|minItems|uniqueItems|maxProperties|minProperties|propertyNames|unevaluated\w+|dependent\w+)$/;

  test('every object accepts extra fields', () => {
    const closed = objects.filter(([, { additionalProperties = true }]) => additionalProperties !== true);
    expect(closed.map(([path]) => path)).toEqual([]);
  });

  test('no schema refuses a value of the right type', () => {
    const closing = objects
      .filter(([path]) => !/\/(example|properties)$|\/example\//.test(path))
      .flatMap(([path, schema]) => Object.keys(schema).map((name) => `${path}/${name}`))
      .filter((path) => CLOSING.test(path.slice(path.lastIndexOf('/') + 1)));
    expect(closing).toEqual([]);
  });

  test('the values that are shown are the known ones, and no others', () => {
    const known = objects.flatMap(([path, { 'x-known-values': values }]) =>
      values === undefined
        ? []
        : [[path.replace(/^.*\/(schemas|paths)\/|\/schema\/.*(?=\/status$)/g, ''), values]],
    );
    expect(Object.fromEntries(known)).toEqual({
      '/components/parameters/ApiVersion/schema': ['1'],
      '/data/payment-providers/get/responses/200/content/application/json/status': ['success'],
      '/data/payout-bank-codes/get/responses/200/content/application/json/status': ['success'],
      '/data/wallet-balances/get/responses/200/content/application/json/status': ['success'],
      TransactionType: ['COLLECTION'],
      TransactionStatus: ['COMPLETED'],
      'PaymentProvider/properties/transaction_method': ['MOBILE_MONEY'],
      'PaymentProvider/properties/transaction_type': ['Collection'],
      'Wallet/properties/wallet_type': ['MERCHANT_COLLECTION', 'MERCHANT_PAYOUT'],
      'ErrorEnvelope/properties/status': ['error'],
      'TransactionCallback/properties/event': ['transaction.completed'],
    });
  });
});

describe('protocol §4.2 and §7: the one error that is shown', () => {
  const { parameters, responses } = contract.paths['/data/payout-bank-codes'].get;

  test('provider_code is a required query parameter of the payout banks, and the only required one of any endpoint', () => {
    const requiredOf = ({ parameters }: Operation) =>
      parameters.filter((one) => one.required).map(({ name }) => name);
    expect(ofEveryPath(requiredOf)).toEqual({
      '/data/payment-providers': [],
      '/data/payout-bank-codes': ['provider_code'],
      '/data/wallet-balances': [],
    });
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'provider_code', in: 'query' }));
  });

  test('the only other status than 200 is 400, for the payout banks, with the error envelope', () => {
    expect(ofEveryPath((get) => Object.keys(get.responses))).toEqual({
      '/data/payment-providers': ['200', 'default'],
      '/data/payout-bank-codes': ['200', '400', 'default'],
      '/data/wallet-balances': ['200', 'default'],
    });
    for (const others of Object.values(ofEveryPath((get) => get.responses['default'])))
      expect(others).toEqual({ $ref: '#/components/responses/Error' });
    const { content } = contract.components.responses.Error;
    expect(content['application/json'].schema).toEqual({ $ref: '#/components/schemas/ErrorEnvelope' });
    expect(responses['400'].content['application/json']).toEqual({
      schema: { $ref: '#/components/schemas/ErrorEnvelope' },
      example: { code: 400, status: 'error', message: 'provider_code is required', data: {} },
    });
  });
});

test('protocol §7: an error has the envelope with the status error', () => {
  const { properties, required } = schemas.ErrorEnvelope;
  expect(required).toEqual(['code', 'status', 'message', 'data']);
  expect(properties).toMatchObject({ message: { type: 'string' }, data: { type: 'object' } });
});

describe('the examples', () => {
  test.each(Object.keys(contract.paths))('%s answers with 200, success and one list', (path) => {
    const { example, schema } = success(path);
    expect(example).toMatchObject({
      code: 200,
      status: 'success',
      message: 'Request completed successfully',
    });
    const [list, ...others] = Object.keys(example.data);
    expect(others).toEqual([]);
    expect(schema.properties.data.required).toEqual([list]);
    const row = schemas[schema.properties.data.properties[list ?? ''].items.$ref.split('/').at(-1)];
    for (const one of example.data[list ?? '']) expect(Object.keys(one)).toEqual(row.required);
  });

  test('protocol §2.4: the balances of each wallet add up to actual_balance, and both types are shown', () => {
    const wallets: Record<string, number>[] = success('/data/wallet-balances').example.data.merchant_wallets;
    expect(wallets.map(({ wallet_type }) => wallet_type)).toEqual(['MERCHANT_COLLECTION', 'MERCHANT_PAYOUT']);
    for (const {
      actual_balance,
      available_balance = 0,
      uncleared_balance = 0,
      reserve_balance = 0,
    } of wallets) {
      expect(actual_balance).toBe(available_balance + uncleared_balance + reserve_balance);
    }
  });

  const { post } = contract.webhooks.transactionCallback;
  const { event, payload } = post.requestBody.content['application/json'].example;

  test('protocol §2.5: total_credit is transaction_amount minus transaction_charge, with charge_customer false', () => {
    const { transaction_amount, transaction_charge, total_credit, charge_customer } = payload;
    expect({ total_credit, charge_customer }).toEqual({
      total_credit: transaction_amount - transaction_charge,
      charge_customer: false,
    });
    expect(transaction_charge).toBeGreaterThan(0);
  });

  test('protocol §6: the callback is transaction.completed with the status COMPLETED', () => {
    expect([event, payload.transaction_type, payload.transaction_status]).toEqual([
      'transaction.completed',
      'COLLECTION',
      'COMPLETED',
    ]);
  });

  test('protocol §5.2: the signature is that of the five fields under the key that the description names', () => {
    const [header] = post.parameters;
    const [query] = contract.webhooks.transactionRedirect.get.parameters;
    const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
    const signed = [event, merchant_reference, internal_reference, transaction_type, transaction_status];
    for (const { description, example } of [header, query]) {
      const [, key = ''] = /signing key of the example is (\w+)\./.exec(description) ?? [];
      const digest = createHmac('sha256', key).update(signed.join(':')).digest('hex');
      expect(key).toMatch(/^[A-Z]{10,}$/);
      expect(example).toBe(`t=1700000000,s=${digest}`);
    }
  });
});
