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

/** What Ajv has against a response: nothing when the contract allows it. A status that it does not name is `default`. */
export function responseProblems(path: string, status: number, contentType: string, body: unknown): string[] {
  const responses = document.paths[path]?.get?.responses;
  if (responses === undefined) return [`the contract has no GET ${path}`];
  if (responses[status] === undefined) return [`the contract does not name ${status} for ${path}`];
  if (!contentType.startsWith('application/json')) return [`${contentType} is not application/json`];
  const validate = compile(
    'paths',
    path,
    'get',
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  );
  return validate(body) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
}

/** What Ajv has against the body of a callback. */
export function callbackProblems(body: unknown): string[] {
  const validate = compile('components', 'schemas', 'TransactionCallback');
  return validate(body) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
}

/** What Ajv has against an error envelope: the 400 of the contract, with another code where one is given. */
export function errorProblems(code: number, body: unknown): string[] {
  const { BadRequest } = document.components.schemas;
  const validate = ajv.compile({
    ...BadRequest,
    properties: { ...BadRequest.properties, code: { const: code } },
  });
  return validate(body) ? [] : (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
}
