/** The facts that the service shows, as literals: each fact once, so that a mistake in the contract cannot confirm itself. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { parse } from 'yaml';

/** Every object in the contract, with its path. */
function* objectsIn(value: unknown, path = ''): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [name, member] of Object.entries(value)) yield* objectsIn(member, `${path}/${name}`);
}

interface Operation {
  readonly parameters: readonly { readonly name?: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: unknown;
}

/** A title, and a check that throws if the contract says something else. */
export type Fact = readonly [title: string, check: () => void];

/** @throws if the contract has another shape. */
export function factsOf(contract: ReturnType<typeof parse>): readonly Fact[] {
  const facts: Fact[] = [];
  let group = '';
  const fact = (title: string, check: () => void): void => void facts.push([group + title, check]);
  const objects = [...objectsIn(contract)];
  const { schemas } = contract.components;

  /** A part of each endpoint, by its path. */
  function ofEveryPath<T>(part: (get: Operation) => T): Readonly<Record<string, T>> {
    const paths = Object.entries<{ readonly get: Operation }>(contract.paths);
    return Object.fromEntries(paths.map(([path, { get }]) => [path, part(get)]));
  }
  const success = (path: string) => contract.paths[path].get.responses['200'].content['application/json'];

  group = 'protocol §5.1: request authentication: ';
  fact('the keys are sent in the headers public-key and secret-key', () => {
    expect(contract.components.securitySchemes).toMatchObject({
      publicKey: { type: 'apiKey', in: 'header', name: 'public-key' },
      secretKey: { type: 'apiKey', in: 'header', name: 'secret-key' },
    });
    expect(Object.keys(contract.components.securitySchemes)).toEqual(['publicKey', 'secretKey']);
  });

  fact('the public key alone is the default, and the balance inquiry needs both keys together', () => {
    expect(contract.security).toEqual([{ publicKey: [] }]);
    expect(ofEveryPath(({ security }) => security)).toEqual({
      '/data/payment-providers': undefined,
      '/data/payout-bank-codes': undefined,
      '/data/wallet-balances': [{ publicKey: [], secretKey: [] }],
    });
  });

  fact('callbacks and redirects send no key', () => {
    expect(contract.webhooks.transactionCallback.post.security).toEqual([]);
    expect(contract.webhooks.transactionRedirect.get.security).toEqual([]);
  });
  group = '';

  fact('protocol §9: x-api-version is a header that is sent with 1, and that no endpoint requires', () => {
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

  group = 'the type of every value: ';
  {
    const schemas = objects.filter(([path]) => /\/(schema|items|(schemas|properties)\/\w+)$/.test(path));
    const withType = (name: string) => schemas.filter(([, { type }]) => type === name).map(([path]) => path);

    fact('every schema has one type or a reference, and no value is null', () => {
      const types = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
      const untyped = schemas.filter(
        ([, { $ref, type }]) => $ref === undefined && !types.includes(String(type)),
      );
      expect(untyped.map(([path]) => path)).toEqual([]);
    });

    fact('every parameter has a schema', () => {
      const parameters = objects.filter(([path]) => /\/parameters\/\w+$/.test(path));
      const untyped = parameters.filter(([, { $ref, schema }]) => $ref === undefined && schema === undefined);
      expect(untyped.map(([path]) => path)).toEqual([]);
    });

    fact('whole numbers are the codes of responses and the id of a transaction, and no others', () => {
      expect(
        withType('integer').map((path) => path.replace(/^.*?(?=200|schemas)|\/content.*properties/g, '')),
      ).toEqual([
        ...['200/code', '200/code', '200/code'],
        ...['schemas/ErrorEnvelope/properties/code', 'schemas/TransactionPayload/properties/id'],
      ]);
    });

    fact('every value with known values is a string', () => {
      const known = schemas.filter(([, schema]) => 'x-known-values' in schema).map(([path]) => path);
      expect(withType('string')).toEqual(expect.arrayContaining(known));
    });
  }
  group = 'what is not shown stays open: ';
  {
    /** Keywords of JSON Schema that refuse a value, except `type` and `required`. */
    const CLOSING =
      /^(enum|const|not|oneOf|pattern|format|maxLength|minLength|minimum|maximum|exclusive\w+|multipleOf|maxItems|minItems|uniqueItems|maxProperties|minProperties|propertyNames|unevaluated\w+|dependent\w+)$/;

    fact('every object accepts extra fields', () => {
      const closed = objects.filter(([, { additionalProperties = true }]) => additionalProperties !== true);
      expect(closed.map(([path]) => path)).toEqual([]);
    });

    fact('no schema refuses a value of the right type', () => {
      const closing = objects
        .filter(([path]) => !/\/(example|properties)$|\/example\//.test(path))
        .flatMap(([path, schema]) => Object.keys(schema).map((name) => `${path}/${name}`))
        .filter((path) => CLOSING.test(path.slice(path.lastIndexOf('/') + 1)));
      expect(closing).toEqual([]);
    });

    fact('the values that are shown are the known ones, and no others', () => {
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
  }
  group = 'protocol §4.2 and §7: the one error that is shown: ';
  {
    const { parameters, responses } = contract.paths['/data/payout-bank-codes'].get;

    fact(
      'provider_code is a required query parameter of the payout banks, and the only required one of any endpoint',
      () => {
        const requiredOf = ({ parameters }: Operation) =>
          parameters.filter((one) => one.required).map(({ name }) => name);
        expect(ofEveryPath(requiredOf)).toEqual({
          '/data/payment-providers': [],
          '/data/payout-bank-codes': ['provider_code'],
          '/data/wallet-balances': [],
        });
        expect(parameters).toContainEqual(expect.objectContaining({ name: 'provider_code', in: 'query' }));
      },
    );

    fact('the only other status than 200 is 400, for the payout banks, with the error envelope', () => {
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
  }
  group = '';

  fact('protocol §7: an error has the envelope with the status error', () => {
    const { properties, required } = schemas.ErrorEnvelope;
    expect(required).toEqual(['code', 'status', 'message', 'data']);
    expect(properties).toMatchObject({ message: { type: 'string' }, data: { type: 'object' } });
  });

  group = 'the examples: ';
  {
    for (const path of Object.keys(contract.paths))
      fact(`${path} answers with 200, success and one list`, () => {
        const { example, schema } = success(path);
        expect(schema.required).toEqual(['code', 'status', 'message', 'data']);
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

    fact(
      'protocol §2.4: the balances of each wallet add up to actual_balance, and both types are shown',
      () => {
        const wallets: Record<string, number>[] =
          success('/data/wallet-balances').example.data.merchant_wallets;
        expect(wallets.map(({ wallet_type }) => wallet_type)).toEqual([
          'MERCHANT_COLLECTION',
          'MERCHANT_PAYOUT',
        ]);
        for (const {
          actual_balance,
          available_balance = 0,
          uncleared_balance = 0,
          reserve_balance = 0,
        } of wallets) {
          expect(actual_balance).toBe(available_balance + uncleared_balance + reserve_balance);
        }
      },
    );

    const { post } = contract.webhooks.transactionCallback;
    const { event, payload } = post.requestBody.content['application/json'].example;

    fact(
      'protocol §2.5: total_credit is transaction_amount minus transaction_charge, with charge_customer false',
      () => {
        const { transaction_amount, transaction_charge, total_credit, charge_customer } = payload;
        expect({ total_credit, charge_customer }).toEqual({
          total_credit: transaction_amount - transaction_charge,
          charge_customer: false,
        });
        expect(transaction_charge).toBeGreaterThan(0);
      },
    );

    fact('protocol §6: the callback is transaction.completed with the status COMPLETED', () => {
      expect([event, payload.transaction_type, payload.transaction_status]).toEqual([
        'transaction.completed',
        'COLLECTION',
        'COMPLETED',
      ]);
    });

    fact(
      'protocol §5.2: the signature is that of the five fields under the key that the description names',
      () => {
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
      },
    );
  }
  fact('every reference resolves', () => {
    for (const [, { $ref }] of objects.filter(([, one]) => typeof one['$ref'] === 'string')) {
      const names = String($ref).split('/').slice(1);
      expect(names.reduce((holder, name) => holder?.[name], contract)).toBeDefined();
    }
  });

  group = 'the contract: ';
  fact('requires every field of every object, in their order', () => {
    for (const { properties = {}, required = [] } of Object.values<Record<string, never>>(schemas))
      expect(Object.keys(properties)).toEqual(required);
  });

  fact('describes the redirect by the one query parameter that is shown', () => {
    const { parameters } = contract.webhooks.transactionRedirect.get;
    expect(parameters).toMatchObject([{ name: 'hmac_signature', in: 'query', required: true }]);
  });

  fact('describes the callback with its signature header', () => {
    const { post } = contract.webhooks.transactionCallback;
    expect(post.parameters[0]).toMatchObject({ name: 'hmac-signature', in: 'header', required: true });
    expect(Object.keys(post.requestBody.content['application/json'].example.payload)).toHaveLength(16);
  });
  return facts;
}
