import { type Batch, bodyOf, parsed, readLeniently } from './inputs.ts';
import { hmac, type Input, keysOf, NAMES, type Options, secondVerdicts, type Verdict } from './verifiers.ts';

type Change = (input: Input) => Input;
const ofSignature =
  (change: (signature: string) => string): Change =>
  (input) =>
    typeof input.signature === 'string' ? { ...input, signature: change(input.signature) } : input;
const ofHash = (change: (s: string) => string): Change =>
  ofSignature((signature) => signature.replace(/(?<=s=)[^,]*/g, change));

/** Verifiers with one fault that changes what they see: the rest is the second verifier, so nothing else can be caught. */
const SEEING: Readonly<Record<string, Change>> = {
  'takes the first of repeated headers': (input) =>
    Array.isArray(input.signature) ? { ...input, signature: input.signature[0] } : input,
  'takes the last of repeated parts': ofSignature((signature) =>
    Object.entries(Object.fromEntries(signature.split(',').map((part) => part.split('=', 2))))
      .map((part) => part.join('='))
      .join(),
  ),
  'trims white space': ofSignature((signature) => signature.replace(/\s/g, '')),
  'compares without case': ofHash((s) => s.toLowerCase()),
  'decodes the hash': ofHash((s) => Buffer.from(s, 'hex').toString('hex')),
  'keeps the last of repeated names': ({ body_text, ...input }) => {
    const body_json = parsed(body_text ?? '');
    return body_json === undefined
      ? { ...input, ...(body_text !== undefined && { body_text }) }
      : { ...input, body_json };
  },
  'converts what is not a string': (input) => {
    if (input.channel === 'redirect' || !(bodyOf(input) instanceof Object)) return input;
    const { channel, signature } = input;
    const [event, ...inner] = readLeniently(input);
    const payload = Object.fromEntries(NAMES.slice(1).map((name, at) => [name, inner[at]]));
    return { channel, signature, body_json: { event, payload } };
  },
  'decodes bytes leniently': ({ body_hex, ...input }) =>
    body_hex === undefined ? input : { ...input, body_text: Buffer.from(body_hex, 'hex').toString() },
  'reads the query with URLSearchParams': (input) =>
    input.query === undefined
      ? input
      : { ...input, query: `${new URLSearchParams(Object.fromEntries(new URLSearchParams(input.query)))}` },
};

/** Those that lack a rule, and verifiers as they have been written for this scheme. */
const DECIDING: Readonly<Record<string, (input: Input, options: Options, code: string) => boolean>> = {
  'has no rule on colons': (_, __, code) => code === 'ambiguous',
  'lets expired keys live': (_, __, code) => code === 'key_expired',
  'has no tolerance': (_, __, code) => code.startsWith('timestamp_'),
  'signs the body': ({ body_text, signature }, options) =>
    body_text !== undefined && String(signature).includes(hmac(keysOf(options)[0] ?? '', body_text)),
  // As it is usually written: the header split, the fields joined, and compared with `===`.
  'the usual fifteen lines': (input, options) => {
    if (typeof input.signature !== 'string') return false;
    const { s } = Object.fromEntries(input.signature.split(',').map((part) => part.split('=')));
    return hmac(keysOf(options)[0] ?? '', readLeniently(input).join(':')) === s;
  },
};

/** What was caught with one naive verifier. */
export interface Caught {
  readonly name: string;
  readonly falseAccepts: number;
}

/** Judges the naive verifiers as core is judged, on what the second verifier refuses. */
export function catchNaive(sample: readonly Batch[]): readonly Caught[] {
  const right = secondVerdicts(sample);
  const refused = sample.map(({ options, inputs }, batch) => ({
    options,
    inputs: inputs.filter((_, at) => !isGenuine(right[batch]?.[at])),
  }));
  const codes = right.flat().filter((verdict) => !isGenuine(verdict));
  const seeing = Object.entries(SEEING).map(([name, change]) => {
    const isChanged = (one: Input): boolean => JSON.stringify(change(one)) !== JSON.stringify(one);
    const seen = refused.map((one) => ({ ...one, inputs: one.inputs.filter(isChanged).map(change) }));
    return { name, falseAccepts: secondVerdicts(seen).flat().filter(isGenuine).length };
  });
  const all = refused.flatMap(({ options, inputs }) => inputs.map((input) => ({ options, input })));
  const deciding = Object.entries(DECIDING).map(([name, accepts]) => {
    const accepted = all.filter(({ options, input }, at) => accepts(input, options, codes[at]?.[0] ?? ''));
    return { name, falseAccepts: accepted.length };
  });
  return [...seeing, ...deciding];
}

function isGenuine(verdict: Verdict | undefined): boolean {
  return verdict?.[0] === 'ok';
}
