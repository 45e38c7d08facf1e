import { readFileSync } from 'node:fs';
import { type Explanation, explain } from '@payment-service/core/explain';
import { asObject, readJson } from '../state/json-values.ts';
import { CommandError, hasCode, reasonOf, UsageError } from './failures.ts';
import type { FoundKeys } from './session.ts';

export interface ExplainOptions {
  /** The file of the request; `-` is standard input. */
  readonly request: string;
  readonly tolerance?: number;
  readonly colonIn?: 'merchant_reference' | 'internal_reference';
}

/** Why a recorded callback was refused. */
export function explainRecorded(
  { request, tolerance, colonIn }: ExplainOptions,
  { variables, source }: FoundKeys,
): Explanation {
  const { SIGNING_KEY: signingKey, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey } = variables;
  if (!signingKey)
    throw new UsageError(`SIGNING_KEY is not in ${source}: without it no signature can be computed.`);
  const keys = { signingKey, publicKey, secretKey };
  return explain(parseRequest(readInput(request)), keys, { toleranceSeconds: tolerance, colonIn });
}

function readInput(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? process.stdin.fd : path);
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EISDIR')) throw cause;
    throw new CommandError(`${path} could not be read: ${reasonOf(cause)}.`, { cause });
  }
}

type ExplainedRequest = Parameters<typeof explain>[0];

const FORMS = 'an HTTP request, a curl command, or JSON with headers and body';
const SHELL_WORD = /\s*((?:\$'(?:\\[\s\S]|[^'\\])*'|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\])+)/gy;
const SHELL_PART = /\$'((?:\\[\s\S]|[^'\\])*)'|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^'"\\$]+|\$)/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Reads a recorded request in one of three forms. */
function parseRequest(bytes: Buffer): ExplainedRequest {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (/^\s*\{/.test(text)) return fromJson(text);
  if (/^\s*curl\s/.test(text)) return fromCurl(text);
  return fromHttp(bytes);
}

function fromHttp(bytes: Buffer): ExplainedRequest {
  // In latin1, a position in the text is one in the bytes.
  const text = bytes.toString('latin1');
  const gap = /\r?\n\r?\n/.exec(text);
  const [line = '', ...fields] = text.slice(0, gap?.index).trim().split(/\r?\n/);
  const [, method, url] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(line) ?? [];
  if (method === undefined || url === undefined) throw new CommandError(`This is not ${FORMS}.`);
  const headers = fields.map(splitHeader);
  const body = bytes.subarray(gap === null ? bytes.length : gap.index + gap[0].length);
  // An editor adds a line break at the end of a file.
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? '';
  return { method, url, headers, body: /^\d+$/.test(length) ? body.subarray(0, Number(length)) : body };
}

function fromJson(text: string): ExplainedRequest {
  const value = asObject(readJson(text));
  if (value === undefined) {
    throw new CommandError(`This looks like JSON but does not parse. It must be ${FORMS}.`);
  }
  const { method, url, headers, body } = asObject(value['request']) ?? value;
  if (typeof headers !== 'object' || headers === null) {
    throw new CommandError(
      'The JSON has no "headers". It needs "headers" and "body", and may have "method" and "url".',
    );
  }
  const pairs: readonly unknown[] = Array.isArray(headers) ? headers : Object.entries(headers);
  return {
    headers: pairs.flatMap((pair): [string, string][] => {
      const [name, given] = Array.isArray(pair) ? pair : [];
      return (Array.isArray(given) ? given : [given]).map((each) => [String(name), String(each)]);
    }),
    method: typeof method === 'string' ? method : undefined,
    url: typeof url === 'string' ? url : undefined,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

function fromCurl(text: string): ExplainedRequest {
  const [, ...words] = shellWords(text);
  const headers: (readonly [string, string])[] = [];
  const bodies: string[] = [];
  let method: string | undefined;
  let url: string | undefined;
  const next = words.values();
  for (const word of next) {
    const [, name = word, given] =
      /^(--[\w-]+)=([\s\S]*)$/.exec(word) ?? /^(-[XHd])([\s\S]+)$/.exec(word) ?? [];
    const value = (): string => given ?? next.next().value ?? '';
    if (name === '-X' || name === '--request') method = value();
    else if (name === '-H' || name === '--header') headers.push(splitHeader(value()));
    else if (name === '--url') url = value();
    else if (name === '-d' || /^--data(-raw|-binary|-ascii)?$/.test(name)) bodies.push(value());
    else if (/^https?:/i.test(name)) url = name;
  }
  method ??= bodies.length > 0 ? 'POST' : 'GET';
  return { method, url, headers, body: bodies.join('&') };
}

/** Splits a command as a POSIX shell would, without expanding anything. */
function shellWords(text: string): string[] {
  const joined = text.trim().replace(/\\\r?\n/g, ' ');
  return Array.from(joined.matchAll(SHELL_WORD), ([, word = '']) =>
    word.replace(
      SHELL_PART,
      (_, ansi?: string, single?: string, double?: string, escaped?: string, plain?: string) => {
        if (ansi !== undefined) return ansi.replace(/\\([\s\S])/g, (__, one: string) => ESCAPES[one] ?? one);
        if (double !== undefined) return double.replace(/\\([$`"\\])/g, '$1');
        return single ?? escaped ?? plain ?? '';
      },
    ),
  );
}

function splitHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return colon === -1 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}
