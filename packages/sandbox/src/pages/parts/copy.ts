import type { HeaderPair } from '../../state/records.ts';

/** One request, to be sent again by hand. */
interface Sent {
  /** @default 'POST' */
  readonly method?: string;
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/** Headers whose values are not shown, by the variables that hold them. */
type Secrets = Readonly<Record<string, string>>;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A client makes these itself. */
const FRAMING = ['host', 'connection', 'content-length'];
const ownHeaders = (headers: readonly HeaderPair[]): HeaderPair[] =>
  headers.filter(([name]) => !FRAMING.includes(name.toLowerCase()));

/** The same request for a shell: curl neither expands the address nor adds a header of its own. */
export function asCurl({ method = 'POST', url, headers, body }: Sent, secrets: Secrets = {}): string {
  const own = ownHeaders(headers);
  const named = (name: string): boolean => own.some(([one]) => one.toLowerCase() === name);
  return [
    `curl -i -g -X ${method} ${quoted(new URL(url).href)}`,
    ...own.map(([name, value]) =>
      secrets[name] === undefined ? `-H ${quoted(`${name}: ${value}`)}` : `-H "${name}: $${secrets[name]}"`,
    ),
    ...['accept', 'user-agent', ...(body === '' ? [] : ['content-type'])]
      .filter((name) => !named(name))
      .map((name) => `-H '${name}:'`),
    ...(body === '' ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

export const asFixture = ({ url, headers, body }: Sent): string =>
  JSON.stringify({ method: 'POST', url, headers: Object.fromEntries(headers), body }, null, 2);

/** `expected`: the status that a receiver answers which verifies. */
export const asTest = ({ url, headers, body }: Sent, name: string, expected: number): string =>
  [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    '',
    `test(${JSON.stringify(name)}, async () => {`,
    `  const response = await fetch(${JSON.stringify(url)}, {`,
    "    method: 'POST',",
    `    headers: ${JSON.stringify(Object.fromEntries(ownHeaders(headers)), null, 2).replaceAll('\n', '\n    ')},`,
    `    body: ${JSON.stringify(body)},`,
    '  });',
    `  assert.equal(response.status, ${expected});`,
    '});',
    '',
  ].join('\n');
