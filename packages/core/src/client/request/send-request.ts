import { ConfigurationError } from '../../errors.ts';
import {
  BOOLEAN,
  checkOptions,
  DURATION,
  type OptionRule,
  type OptionRules,
  RECORD,
  REQUIRED,
} from '../../options/options.ts';
import { isObject } from '../../verify/json-members.ts';
import { runCall } from '../call/call.ts';
import { readEnvelope } from '../response/envelope.ts';
import { invalid } from '../response/failure.ts';
import { checkTls } from '../settings/base-url.ts';
import { createScrubber } from '../settings/scrubber.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { addressOf, entriesOf, wrong } from './address.ts';
import { headerSecrets } from './header-secrets.ts';
import { jsonBody } from './json-body.ts';
import type { Method, RequestOptions, RequestResult, Schema } from './request.ts';

type AnyRequest = RequestOptions & { readonly schema?: Schema | undefined };

const METHODS: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Not `instanceof`: a signal from another realm, such as a test environment, would fail it. */
export const SIGNAL: OptionRule = [
  (value) => isObject(value) && 'aborted' in value && 'throwIfAborted' in value,
  'an AbortSignal',
];
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Visible ASCII with single spaces between. fetch would show any other value in its error. */
const HEADER_VALUE = /^[\x21-\x7e]+( [\x21-\x7e]+)*$/;
/** The headers that the client or the connection sets. */
const OWN_HEADERS =
  /^(accept|content-(type|length|encoding)|public-key|secret-key|x-api-version|host|connection|keep-alive|transfer-encoding|upgrade|expect|te|trailer)$/i;

const OPTIONS: OptionRules<AnyRequest> = {
  method: [(value) => METHODS.some((one) => one === value), `one of ${METHODS.join(', ')}`, REQUIRED],
  path: undefined,
  params: RECORD,
  query: RECORD,
  body: undefined,
  secretKey: BOOLEAN,
  schema: [
    (value) =>
      (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value,
    'a schema by Standard Schema (zod, valibot, arktype)',
  ],
  signal: SIGNAL,
  timeoutMs: DURATION,
  headers: RECORD,
  refusedStatuses: [
    (value) =>
      Array.isArray(value) &&
      value.every((status) => Number.isInteger(status) && status >= 400 && status <= 499),
    'a list of statuses from 400 to 499',
  ],
  repeat: [(value) => value === 'safe', "'safe'"],
};

/**
 * `client.request()`: any path below `baseUrl`, with the safeguards of the reference calls.
 *
 * @param budget The retry budget, shared by all calls of the client.
 */
export function createRequest(
  settings: ClientSettings,
  budget: { credit: number },
): (options: AnyRequest) => Promise<RequestResult> {
  return async (options) => {
    checkOptions('request()', options, OPTIONS);
    const { method, path, params, query, schema, signal, timeoutMs, repeat } = options;
    const { refusedStatuses = settings.refusedStatuses } = options;
    const headers = headersOf(options.headers);
    const url = addressOf(settings.base, path, params, query);
    const body = jsonBody(method, options.body);
    const secret = secretHeader(settings, options.secretKey === true);
    const contentType = body === undefined ? undefined : { 'content-type': 'application/json' };
    const secrets = headerSecrets(headers);
    const call = {
      settings: {
        ...settings,
        timeoutMs: timeoutMs ?? settings.timeoutMs,
        refusedStatuses,
        scrubber: secrets.length === 0 ? settings.scrubber : createScrubber([...settings.keys, ...secrets]),
      },
      budget,
      operation: 'request',
      url,
      headers: { ...headers, ...settings.headers, ...contentType, ...secret },
      read: (text: string, status: number) => readResult(text, status, method, schema),
      request: {
        label: `${method} ${path}`,
        method,
        body,
        isRepeatable: method === 'GET' || method === 'HEAD' || repeat === 'safe',
        sendsSecretKey: options.secretKey === true,
      },
    } as const;
    return runCall<RequestResult>(call, signal);
  };
}

/** @throws {ConfigurationError} */
function headersOf(given: object = {}): Record<string, string> {
  const entries = entriesOf('headers', given, 'Headers');
  const isSafe = ([name, text]: [string, unknown]): boolean =>
    TOKEN.test(name) && !OWN_HEADERS.test(name) && typeof text === 'string' && HEADER_VALUE.test(text);
  if (entries.every(isSafe)) return Object.fromEntries(entries) as Record<string, string>;
  const shape = 'must be header names and values in printable ASCII, without those that the client sets.';
  throw wrong('headers', shape);
}

function secretHeader(
  { secretKey, base, allowUnverifiedTls }: ClientSettings,
  isSent: boolean,
): { 'secret-key'?: string } {
  checkTls(base, isSent, allowUnverifiedTls);
  if (!isSent) return {};
  if (secretKey !== undefined) return { 'secret-key': secretKey };
  const message = 'request() with secretKey needs the secret key: pass secretKey to createClient().';
  throw new ConfigurationError('secretKey', message);
}

async function readResult(
  text: string,
  status: number,
  method: string,
  schema: Schema | undefined,
): Promise<RequestResult> {
  const isEmpty = method === 'HEAD' || status === 204 || status === 205;
  const { message, data } = isEmpty ? { message: '', data: undefined } : readEnvelope(text, status);
  if (schema === undefined) return { status, message, data };
  let result: Awaited<ReturnType<Schema['~standard']['validate']>>;
  try {
    result = await schema['~standard'].validate(data);
  } catch (cause) {
    throw invalid('the schema failed on data', CHECK_SCHEMA, { status, cause });
  }
  if (result.issues === undefined) return { status, message, data: result.value };
  // Not the message of the issue, which may quote a value.
  const [issue] = result.issues;
  const steps = (issue?.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step));
  throw invalid(`${['data', ...steps].join('.')} does not match the schema`, CHECK_SCHEMA, { status });
}

const CHECK_SCHEMA = "Compare the schema with the service's response.";
