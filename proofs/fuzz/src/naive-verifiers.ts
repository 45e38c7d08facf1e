import { createHmac } from 'node:crypto';
import { type Batch, readLeniently } from './batch.ts';
import { NAMES, SecondVerifier, type VectorOptions } from './second-verifier.ts';
import { type Input, type Subject, secondVerdict } from './subject.ts';

/** Makes one fault by changing what a verifier sees: the rest is the second verifier, so nothing else can be caught. */
function seeing(change: (input: Input) => Input) {
  return ({ second }: Subject, input: Input): boolean =>
    secondVerdict({ second }, change(input)).code === 'ok';
}

function ofSignature(change: (signature: unknown) => unknown) {
  return seeing((input) =>
    input.channel === 'redirect' ? input : { ...input, signature: change(input.signature) },
  );
}

function ofHash(change: (s: string) => string) {
  return ofSignature((signature) =>
    typeof signature === 'string' ? signature.replace(/(?<=s=)[^,]*/g, change) : signature,
  );
}

function ofBody(change: (body: unknown, input: Input) => unknown) {
  return seeing((input) =>
    input.channel === 'redirect' ? input : { ...input, body: change(input.body, input) },
  );
}

/** The second verifier with other options. @param codes the verdicts that it takes for genuine. */
function under(change: (options: VectorOptions) => VectorOptions, codes = ['ok']) {
  return ({ options }: Subject, input: Input): boolean =>
    codes.includes(secondVerdict({ second: new SecondVerifier(change(options)) }, input).code);
}

function parsed(body: unknown): unknown {
  try {
    return typeof body === 'string' ? JSON.parse(body) : body;
  } catch {
    return body;
  }
}

/** Verifiers as they have been written for this scheme, and the second one with one fault each: a run must catch them all. */
const NAIVE: Readonly<Record<string, (subject: Subject, input: Input) => boolean>> = {
  'signs the body': ({ options }, input) =>
    input.channel === 'callback' &&
    typeof input.body === 'string' &&
    String(input.signature).includes(`s=${hmac(options, input.body)}`),
  // As it is usually written: the header split, the fields joined, and compared with `===`.
  'the usual fifteen lines': ({ options }, input) => {
    if (input.channel === 'redirect' || typeof input.signature !== 'string') return false;
    const parts = Object.fromEntries(input.signature.split(',').map((part) => part.split('=')));
    return hmac(options, readLeniently(input).join(':')) === parts.s;
  },
  'takes the first of repeated headers': ofSignature((signature) =>
    Array.isArray(signature) ? signature[0] : signature,
  ),
  'takes the last of repeated parts': ofSignature((signature) =>
    typeof signature === 'string'
      ? Object.entries(Object.fromEntries(signature.split(',').map((part) => part.split('=', 2))))
          .map((part) => part.join('='))
          .join()
      : signature,
  ),
  'trims white space': ofSignature((signature) =>
    typeof signature === 'string' ? signature.replace(/\s/g, '') : signature,
  ),
  'compares without case': ofHash((s) => s.toLowerCase()),
  'decodes the hash': ofHash((s) => Buffer.from(s, 'hex').toString('hex')),
  'keeps the last of repeated names': ofBody(parsed),
  'converts what is not a string': ofBody((body, input) => {
    const [event, ...inner] = readLeniently(input);
    if (!(parsed(body) instanceof Object)) return body;
    return { event, payload: Object.fromEntries(NAMES.slice(1).map((name, at) => [name, inner[at]])) };
  }),
  'decodes bytes leniently': ofBody((body) =>
    body instanceof Uint8Array ? new TextDecoder().decode(body) : body,
  ),
  'reads the query with URLSearchParams': seeing((input) => {
    if (input.channel === 'callback') return input;
    const query = String(new URLSearchParams(Object.fromEntries(new URLSearchParams(input.query))));
    return { ...input, query };
  }),
  'has no rule on colons': under(
    ({ colon_in: _, merchant_reference_pattern: __, ...others }) => others,
    ['ok', 'ambiguous'],
  ),
  'lets expired keys live': under(({ signing_keys, ...others }) => ({
    ...others,
    ...(signing_keys && { signing_keys: signing_keys.map(({ id, key }) => ({ id, key })) }),
  })),
  'has no tolerance': under(({ tolerance_seconds: _, ...others }) => others),
};

/** With the first key. */
function hmac({ signing_keys, signing_key = '' }: VectorOptions, message: string): string {
  const key = signing_keys?.[0]?.key ?? signing_key;
  return createHmac('sha256', key).update(message).digest('hex');
}

/** What was caught with one naive verifier. */
export interface Caught {
  readonly name: string;
  readonly falseAccepts: number;
  readonly falseRefusals: number;
}

/** Judges the naive verifiers as core is judged. */
export function catchNaive(sample: readonly Batch[]): readonly Caught[] {
  return Object.entries(NAIVE).map(([name, accepts]) => {
    let [falseAccepts, falseRefusals] = [0, 0];
    for (const { from, candidates } of sample) {
      for (const { input } of candidates) {
        const isGenuine = secondVerdict(from, input).code === 'ok';
        const isAccepted = accepts(from, input);
        if (isAccepted && !isGenuine) falseAccepts++;
        if (!isAccepted && isGenuine) falseRefusals++;
      }
      from.second.forget();
    }
    return { name, falseAccepts, falseRefusals };
  });
}
