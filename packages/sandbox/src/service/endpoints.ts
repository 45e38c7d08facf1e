import { ConfigurationError } from '@payment-service/core';
import * as z from 'zod';
import { asObject } from '../state/json-values.ts';
import { text } from '../state/request-fields.ts';
import { type CollectionRequest, fieldsOf, type PayoutRequest, requestField } from './request-schemas.ts';

/** The fields of a simulated collection, payout or transfer. */
export type EndpointField = Exclude<keyof CollectionRequest | keyof PayoutRequest, 'misbehave' | 'retry'>;

/**
 * How a request goes wrong:
 * - `'refused'`: answered 422, and nothing is started.
 * - `'error'`: accepted, and answered 503.
 * - `'cut'`: accepted, and the connection is cut before an answer.
 * - a number: accepted, and answered after this many milliseconds, such as after the caller's deadline.
 */
export type EndpointFault = 'refused' | 'error' | 'cut' | number;

/**
 * An endpoint of the merchant's own contract, answered by the simulation: so the merchant's real code for starting payments,
 * payouts and transfers runs offline. The service's own endpoints are not shown (protocol §4.4).
 */
export interface SandboxEndpoint {
  /** `POST`, `PUT` or `PATCH`. @default 'POST' */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | undefined;
  /** Such as `/wallets/{currency}/transfers`, below the address of the sandbox. */
  readonly path: string;
  readonly starts: 'collection' | 'payout' | 'transfer';
  /** Where each field is in the request: a member of the JSON body, such as `order.reference`, or a `{name}` of the path. */
  readonly members: Readonly<Partial<Record<EndpointField, string>>>;
  /** Fields that the request does not have. @default {} */
  readonly fixed?: Readonly<Record<string, unknown>> | undefined;
  /** The status of success. @default 201 */
  readonly status?: number | undefined;
  /**
   * `data` of the answer: a function, or a template in which `"{internal_reference}"` stands for that field of what was
   * started, and `"{payment_page_url}"` for the page on which the customer pays.
   *
   * @default all fields of what was started
   */
  readonly answer?: unknown;
  /** The fault of the requests in which a field has this value, such as an account number for tests; `'*'` is every request. */
  readonly faults?: Readonly<Record<string, EndpointFault>> | undefined;
  /** Whether the secret key is required too. @default true */
  readonly secretKey?: boolean | undefined;
}

/** A checked endpoint. */
export type Endpoint = {
  readonly [Name in Exclude<keyof SandboxEndpoint, 'answer'>]-?: NonNullable<SandboxEndpoint[Name]>;
} & Pick<SandboxEndpoint, 'answer'>;

const endpoint = z.strictObject({
  method: z.enum(['POST', 'PUT', 'PATCH']).default('POST'),
  path: z.string().regex(/^(\/([\w.~-]+|\{\w+\}))+$/, 'must be a path such as /wallets/{currency}/transfers'),
  starts: z.enum(['collection', 'payout', 'transfer']),
  members: z.partialRecord(requestField, text),
  fixed: z.record(z.string(), z.unknown()).default({}),
  status: z.int().min(200).max(299).default(201),
  answer: z.unknown().optional(),
  faults: z
    .record(z.string(), z.union([z.enum(['refused', 'error', 'cut']), z.int().min(0).max(600_000)]))
    .default({}),
  secretKey: z.boolean().default(true),
});

/** @throws {ConfigurationError} naming the endpoint and the member. */
export function checkEndpoints(given: unknown): readonly Endpoint[] {
  const result = z.array(endpoint).safeParse(given ?? []);
  if (result.success) {
    for (const [index, each] of result.data.entries()) checkMembers(each, `endpoints[${index}].members`);
    return result.data;
  }
  const [issue] = result.error.issues;
  const where = (issue?.path ?? []).map((step) =>
    typeof step === 'number' ? `[${step}]` : `.${String(step)}`,
  );
  throw new ConfigurationError('endpoints', `endpoints${where.join('')}: ${issue?.message}.`);
}

/** Every request of an endpoint without these fields, or with others, would be refused. */
function checkMembers({ members, fixed, starts }: Endpoint, where: string): void {
  const fields = fieldsOf(starts);
  const given = [...Object.keys(members), ...Object.keys(fixed)];
  const missing = [...fields].filter(([name, { isNeeded }]) => isNeeded && !given.includes(name));
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ');
    const message = `${where}: a ${starts} needs ${names}. Name the member of the request that has it, or give its value in fixed.`;
    throw new ConfigurationError('endpoints', message);
  }
  const unknown = given.find((name) => !fields.has(name));
  if (unknown === undefined) return;
  const message = `${where}: a ${starts} has no ${unknown}. Its fields: ${[...fields.keys()].join(', ')}.`;
  throw new ConfigurationError('endpoints', message);
}

/** The request of the simulation, read from the merchant's own; missing members are left out, and refused where they are needed. */
export function requestOf(
  { members, fixed }: Endpoint,
  body: unknown,
  params: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const request: Record<string, unknown> = { ...fixed };
  for (const [field, path] of Object.entries(members)) {
    const value = Object.hasOwn(params, path) ? params[path] : valueAt(body, path);
    if (value !== undefined) request[field] = field === 'amount' ? numberOf(value) : value;
  }
  return request;
}

/** The fault that one of the request's values asks for. */
export function faultOf(
  { faults }: Endpoint,
  request: Readonly<Record<string, unknown>>,
): EndpointFault | undefined {
  const value = Object.values(request).find((one) => typeof one === 'string' && Object.hasOwn(faults, one));
  return faults[typeof value === 'string' ? value : '*'];
}

/** `data` of the answer. */
export function answerOf(
  { answer }: Endpoint,
  started: Readonly<Record<string, unknown>>,
  body: unknown,
): unknown {
  if (answer === undefined) return started;
  return typeof answer === 'function' ? answer(started, body) : fill(answer, started);
}

function valueAt(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => asObject(value)?.[name], body);
}

/** An endpoint may take amounts as decimal strings; the simulation takes numbers. */
const numberOf = (value: unknown): unknown =>
  typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;

function fill(template: unknown, facts: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === 'string') {
    const [, name] = /^\{(\w+)\}$/.exec(template) ?? [];
    if (name !== undefined) return facts[name] ?? null;
    return template.replace(/\{(\w+)\}/g, (_, one: string) => String(facts[one] ?? ''));
  }
  if (Array.isArray(template)) return template.map((one) => fill(one, facts));
  const members = asObject(template);
  return members === undefined
    ? template
    : Object.fromEntries(Object.entries(members).map(([name, one]) => [name, fill(one, facts)]));
}

/**
 * The shape of a contract, made up for examples: none of it is the service's.
 *
 * @example
 * const sandbox = createSandbox({ endpoints: exampleEndpoints });
 */
export const exampleEndpoints: readonly SandboxEndpoint[] = [
  {
    path: '/example/collections',
    starts: 'collection',
    members: {
      merchant_reference: 'reference',
      amount: 'money.amount',
      currency: 'money.currency',
      provider_code: 'provider',
      account: 'payer.phone',
      customer_name: 'payer.name',
      callback_url: 'callback_url',
      redirect_url: 'return_url',
    },
    answer: {
      id: '{id}',
      reference: '{internal_reference}',
      state: '{transaction_status}',
      page: '{payment_page_url}',
    },
    // The last digits of the number choose what goes wrong.
    faults: {
      '256772000422': 'refused',
      '256772000503': 'error',
      '256772000444': 'cut',
      '256772000408': 30_000,
    },
  },
  {
    path: '/example/payouts',
    starts: 'payout',
    members: {
      merchant_reference: 'reference',
      amount: 'money.amount',
      currency: 'money.currency',
      provider_code: 'provider',
      account: 'payee.account',
      bank_code: 'payee.bank',
      callback_url: 'callback_url',
    },
    answer: { id: '{id}', reference: '{internal_reference}', state: '{transaction_status}' },
  },
  {
    path: '/example/wallets/{currency}/transfers',
    starts: 'transfer',
    members: { currency: 'currency', amount: 'amount' },
  },
];
