import { createHmac } from 'node:crypto';
import { NAMES, SecondVerifier } from './second-verifier.ts';
import { type Input, type Subject, secondVerdict } from './subject.ts';

/** Whether a verifier accepts an input. It may throw, which does not count as accepting. */
type Accepts = (input: Input) => boolean;

/** Changes what a verifier sees, which is one fault: the rest is the second verifier, so nothing else can be caught. */
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

function without(...names: ('notAfterMs' | 'toleranceMs' | 'colonIn' | 'isReference')[]) {
  return ({ settings }: Subject): Accepts => {
    const { keys, nowMs, ...others } = settings;
    const kept = Object.fromEntries(
      Object.entries(others).filter(([name]) => !names.some((one) => one === name)),
    );
    const lasting = names.includes('notAfterMs') ? keys.map(({ id, key }) => ({ id, key })) : keys;
    const verifier = new SecondVerifier({ ...kept, nowMs, keys: lasting });
    return (input) => {
      verifier.forget();
      const verdict = secondVerdict({ second: verifier }, input);
      return verdict.code === 'ok' || (names.includes('colonIn') && verdict.code === 'ambiguous');
    };
  };
}

const S = /(?<=s=)[^,]*/g;

/** The verifiers that have been written for this scheme, and the second one with one fault each: a run has to catch them all. */
export const NAIVE: Readonly<Record<string, (subject: Subject) => Accepts>> = {
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
    const inner = NAMES.slice(1).map((name) => [name, text(payload[name])]);
    return { event: text(event), payload: Object.fromEntries(inner) };
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
  'has no rule on colons': without('colonIn', 'isReference'),
  'lets expired keys live': without('notAfterMs'),
  'has no tolerance': without('toleranceMs'),
};

function text(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function hmac(key = '', message: string): string {
  return createHmac('sha256', key).update(message).digest('hex');
}

function signsTheBody({ settings }: Subject): Accepts {
  const [key] = settings.keys;
  return (input) => {
    if (input.channel === 'redirect' || typeof input.signature !== 'string' || typeof input.body !== 'string')
      return false;
    return input.signature.includes(`s=${hmac(key?.key, input.body)}`);
  };
}

/** As it is written again and again: the header split, the fields joined, and compared with `===`. */
function usual({ settings }: Subject): Accepts {
  const [key] = settings.keys;
  return (input) => {
    try {
      if (input.channel === 'redirect') return false;
      const { signature, body } = input;
      const { event, payload } = typeof body === 'object' ? body : JSON.parse(body as string);
      const parts = Object.fromEntries((signature as string).split(',').map((part) => part.split('=')));
      const { merchant_reference, internal_reference, transaction_type, transaction_status } = payload;
      const joined = `${event}:${merchant_reference}:${internal_reference}:${transaction_type}:${transaction_status}`;
      return hmac(key?.key, joined) === parts.s;
    } catch {
      return false;
    }
  };
}
