import { createHmac } from 'node:crypto';
import { batch, converted } from './batch.ts';
import { NAMES, SecondVerifier, type VectorOptions } from './second-verifier.ts';
import { type Input, type Subject, secondVerdict } from './subject.ts';

/** Whether a verifier accepts an input. It may throw, which does not count as accepting. */
type Accepts = (input: Input) => boolean;

/** Makes one fault by changing what a verifier sees: the rest is the second verifier, so nothing else can be caught. */
function seeing(change: (input: Input) => Input) {
  return ({ second }: Subject): Accepts =>
    (input) =>
      secondVerdict({ second }, change(input)).code === 'ok';
}

function ofSignature(change: (signature: string) => string) {
  return seeing((input) => {
    if (input.channel === 'redirect' || typeof input.signature !== 'string') return input;
    return { ...input, signature: change(input.signature) };
  });
}

function ofBody(change: (body: string) => unknown) {
  return seeing((input) => {
    if (input.channel === 'redirect' || typeof input.body !== 'string') return input;
    try {
      return { ...input, body: change(input.body) };
    } catch {
      return input;
    }
  });
}

/** The second verifier with other options. @param codes the verdicts that it takes for genuine. */
function under(change: (options: VectorOptions) => VectorOptions, codes: readonly string[] = ['ok']) {
  return ({ options }: Subject): Accepts => {
    const second = new SecondVerifier(change(options));
    return (input) => {
      second.forget();
      return codes.includes(secondVerdict({ second }, input).code);
    };
  };
}

const S = /(?<=s=)[^,]*/g;

/** Verifiers as they have been written for this scheme, and the second one with one fault each: a run must catch them all. */
const NAIVE: Readonly<Record<string, (subject: Subject) => Accepts>> = {
  'signs the body': signsTheBody,
  'the usual fifteen lines': usual,
  'takes the first of repeated headers': seeing((input) =>
    input.channel === 'callback' && Array.isArray(input.signature)
      ? { ...input, signature: input.signature[0] }
      : input,
  ),
  'takes the last of repeated parts': ofSignature((signature) =>
    Object.entries(Object.fromEntries(signature.split(',').map((part) => part.split('=', 2))))
      .map((part) => part.join('='))
      .join(),
  ),
  'trims white space': ofSignature((signature) => signature.replace(/\s/g, '')),
  'compares without case': ofSignature((signature) => signature.replace(S, (s) => s.toLowerCase())),
  'decodes the hash': ofSignature((signature) =>
    signature.replace(S, (s) => Buffer.from(s, 'hex').toString('hex')),
  ),
  'keeps the last of repeated names': ofBody((body) => JSON.parse(body)),
  'converts what is not a string': ofBody((body) => {
    const { event, payload } = JSON.parse(body);
    const inner = NAMES.slice(1).map((name) => [name, converted(payload[name])]);
    return { event: converted(event), payload: Object.fromEntries(inner) };
  }),
  'decodes bytes leniently': seeing((input) =>
    input.channel === 'callback' && input.body instanceof Uint8Array
      ? { ...input, body: new TextDecoder().decode(input.body) }
      : input,
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

function signsTheBody({ options }: Subject): Accepts {
  return (input) => {
    if (input.channel === 'redirect' || typeof input.signature !== 'string' || typeof input.body !== 'string')
      return false;
    return input.signature.includes(`s=${hmac(options, input.body)}`);
  };
}

/** As it is usually written: the header split, the fields joined, and compared with `===`. */
function usual({ options }: Subject): Accepts {
  return (input) => {
    try {
      if (input.channel === 'redirect') return false;
      const { signature, body } = input;
      const { event, payload } = typeof body === 'object' ? body : JSON.parse(body as string);
      const parts = Object.fromEntries((signature as string).split(',').map((part) => part.split('=')));
      const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
      const joined = `${event}:${merchant_reference}:${internal_reference}:${transaction_type}:${transaction_status}`;
      return hmac(options, joined) === parts.s;
    } catch {
      return false;
    }
  };
}

/** What was caught with one naive verifier. */
export interface Caught {
  readonly name: string;
  readonly falseAccepts: number;
  readonly falseRefusals: number;
}

/** Judges the naive verifiers on the first inputs of the run, as core is judged. */
export function catchNaive(all: readonly Subject[], seed: number, inputs: number): readonly Caught[] {
  const caught = Object.keys(NAIVE).map((name) => ({ name, falseAccepts: 0, falseRefusals: 0 }));
  const naive = new Map(all.map((subject) => [subject, Object.values(NAIVE).map((make) => make(subject))]));
  let judged = 0;
  for (let number = 0; judged < inputs; number++) {
    const { from, fill } = batch(all, seed, number);
    fill((input) => {
      const isGenuine = secondVerdict(from.subject, input).code === 'ok';
      naive.get(from.subject)?.forEach((accepts, index) => {
        const isAccepted = accepts(input);
        const one = caught[index];
        if (one !== undefined && isAccepted && !isGenuine) one.falseAccepts++;
        if (one !== undefined && !isAccepted && isGenuine) one.falseRefusals++;
      });
      judged++;
    });
    from.subject.second.forget();
  }
  return caught;
}
