import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';

/*
 * The contract, checked by Ajv (JSON Schema 2020-12, the dialect of OpenAPI 3.1): a validator that this project did not
 * write. Ajv resolves the contract's own $refs, so nothing is copied out of it.
 */
const text = readFileSync(
  new URL(import.meta.resolve('@payment-service/openapi/payment-service.yaml')),
  'utf8',
);
const document = parse(text);
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'contract');

const pointer = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

function compile(...path: string[]): ValidateFunction {
  return ajv.compile({ $ref: `contract#/${path.map(pointer).join('/')}` });
}

const messages = ({ errors }: ValidateFunction): string[] =>
  (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

interface Envelope {
  readonly code: unknown;
  readonly status: unknown;
  readonly data: object;
}

/**
 * What is wrong with a response: by the contract's schema for its status, or for `default`, and by the values of the envelope
 * (protocol §2.1 and §7), which the contract leaves open. A path that is not in the contract can only return an error.
 */
export function responseProblems(
  path: string,
  status: number,
  contentType: string,
  body: Envelope,
): string[] {
  if (!contentType.startsWith('application/json')) return [`${contentType} is not application/json`];
  const named = document.paths[path]?.get.responses[status];
  const response = named
    ? ['paths', path, 'get', 'responses', String(status)]
    : ['components', 'responses', 'Error'];
  const validate = compile(...response, 'content', 'application/json', 'schema');
  return [...(validate(body) ? [] : messages(validate)), ...envelopeProblems(status, body)];
}

function envelopeProblems(status: number, body: Envelope): string[] {
  const word = status < 400 ? 'success' : 'error';
  return [
    ...(body.code === status ? [] : [`code is ${body.code} under HTTP ${status}`]),
    ...(body.status === word ? [] : [`status is ${body.status} and not ${word}`]),
    ...(word === 'error' && Object.keys(body.data).length > 0 ? ['data of an error is not empty'] : []),
  ];
}

/** What Ajv reports about the body of a callback. */
export function callbackProblems(body: unknown): string[] {
  const validate = compile('components', 'schemas', 'TransactionCallback');
  return validate(body) ? [] : messages(validate);
}
