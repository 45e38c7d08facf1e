import type { ExplainedRequest } from '@payment-service/core/explain';
import { asObject, readJson } from '../state/json-values.ts';
import { refuse } from '../state/refusal.ts';

const FIELD = 'request';

const FORMS = 'an HTTP request, a curl command, what curl -v printed, or JSON with headers and body';
const SHELL_WORD = /\s*((?:\$'(?:\\[\s\S]|[^'\\])*'|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\])+)/gy;
const SHELL_PART = /\$'((?:\\[\s\S]|[^'\\])*)'|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^'"\\$]+|\$)/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * Reads a recorded request.
 *
 * @param body what was sent, where it is known apart from the rest.
 * @throws {SandboxRefusal} that says what is missing, or what it must be.
 */
export function parseRequest(bytes: Uint8Array, body?: string): ExplainedRequest {
  const text = new TextDecoder().decode(bytes);
  const request = formOf(text)(text, bytes);
  if (body !== undefined) return { ...request, body };
  if (request.body === undefined) {
    const message =
      'curl -v does not print the body, so it is missing. Give the curl command itself, or the request with an empty line and the body below it.';
    refuse('malformed_request', message, 'body');
  }
  return request;
}

type Reading = (text: string, bytes: Uint8Array) => ExplainedRequest;

function formOf(text: string): Reading {
  if (/^\s*\{/.test(text)) return fromJson;
  if (COMMAND.test(text)) return fromCurl;
  return TRACE.test(text) ? fromTrace : fromHttp;
}

const COMMAND = /^\s*(?:\$ )?(?=curl\s)/;
/** The first request that `curl -v` printed. */
const TRACE = /^> [A-Z]+ .*(?:\n> .*)*/m;

function fromHttp(_: string, bytes: Uint8Array): ExplainedRequest {
  // In latin1, a position in the text is one in the bytes.
  const text = new TextDecoder('latin1').decode(bytes);
  const gap = /\r?\n\r?\n/.exec(text);
  const [line = '', ...fields] = text.slice(0, gap?.index).trim().split(/\r?\n/);
  const [, method, url] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(line) ?? [];
  if (method === undefined || url === undefined) refuse('malformed_request', `This is not ${FORMS}.`, FIELD);
  const headers = fields.map(splitHeader);
  const body = bytes.subarray(gap === null ? bytes.length : gap.index + gap[0].length);
  // An editor adds a line break at the end of a file.
  const length = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? '';
  return { method, url, headers, body: /^\d+$/.test(length) ? body.subarray(0, Number(length)) : body };
}

function fromTrace(text: string): ExplainedRequest {
  const sent = (TRACE.exec(text)?.[0] ?? '').replaceAll(/^> /gm, '');
  return { ...fromHttp(sent, new TextEncoder().encode(sent)), body: undefined };
}

function fromJson(text: string): ExplainedRequest {
  const value = asObject(readJson(text));
  if (value === undefined) {
    refuse('malformed_request', `This looks like JSON but does not parse. It must be ${FORMS}.`, FIELD);
  }
  const { method, url, headers, body } = asObject(value['request']) ?? value;
  if (typeof headers !== 'object' || headers === null) {
    const problem = Object.hasOwn(value, 'payload')
      ? 'This is the body alone. The signature is in the header hmac-signature: give the whole request, or JSON with "headers" and "body".'
      : 'The JSON has no "headers". It needs "headers" and "body", and may have "method" and "url".';
    refuse('malformed_request', problem, FIELD);
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
  // In a terminal, what it printed follows the command.
  const [command = ''] = text.replace(COMMAND, '').split(/\n(?=[*<>] )/, 1);
  const [, ...words] = shellWords(command);
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
    else if (name === '-d' || /^--(?:json|data(?:-raw|-binary|-ascii)?)$/.test(name))
      bodies.push(dataOf(name, value()));
    else if (/^https?:/i.test(name)) url = name;
  }
  method ??= bodies.length > 0 ? 'POST' : 'GET';
  return { method, url, headers, body: bodies.join('&') };
}

function dataOf(name: string, value: string): string {
  if (name === '--data-raw' || !value.startsWith('@')) return value;
  const message = `The command reads the body from a file, ${value}. Put the content of the file in its place.`;
  refuse('malformed_request', message, FIELD);
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
