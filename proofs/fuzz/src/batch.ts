import { seededRandom } from '@payment-service/durability/history/seeded-random.ts';
import fc from 'fast-check';
import { mutateBody, mutateHeader, mutateQuery } from './mutate.ts';
import { NAMES } from './second-verifier.ts';
import { type Edit, type Structure, structure, write } from './structure.ts';
import type { Input, Subject } from './subject.ts';

/** An input and its number of edits from a genuine one. A signature made after an edit counts as another. */
export interface Candidate {
  readonly input: Input;
  readonly edits: number;
}
export interface Batch {
  readonly from: Subject;
  /** The genuine one is the first. */
  readonly candidates: readonly Candidate[];
}

/** A body or query that takes a signature. */
type Carrier = (signature: unknown) => Input;

/** Headers, changed texts and pairs of them: a callback is judged faster, and more of them depend on its header. */
const COUNTS = {
  callback: { headers: 30, texts: 5, signedAgain: 5, pairs: 60 },
  redirect: { headers: 5, texts: 8, signedAgain: 2, pairs: 4 },
} as const;

/** The structures of a part of a run, as the property of {@link runFuzz} receives them. */
export function batches(all: readonly Subject[], seed: number, count: number): readonly Batch[] {
  return fc.sample(structure, { seed, numRuns: count }).map((given) => batchOf(all, given));
}

/** The structure alone determines its batch. */
export function batchOf(all: readonly Subject[], given: Structure): Batch {
  const from = all[given.subject % all.length] as Subject;
  const random = seededRandom(given.seed, 0);
  const key = given.key % (from.options.signing_keys?.length ?? 1);
  const { channel, fields, t, edits, expects } = given;
  const s = from.second.digest(fields, key);
  const genuine = `t=${t},s=${s}`;
  const { headers, texts, signedAgain, pairs } = COUNTS[channel];
  const candidates: Candidate[] = [];
  const put = (carrier: Carrier, signature: unknown, count: number): void => {
    candidates.push({ input: carrier(signature), edits: count });
  };

  const expected = expects === 'same' ? fields[1] : expects;
  const carrying = (by: readonly Edit[], of = given): Carrier => {
    if (channel === 'redirect')
      return (signature) => ({ channel, query: write(of, by, plain(signature)), expected });
    const body = form(write(of, by, ''), random.next());
    return (signature) => ({ channel, signature, body });
  };
  const spoiled = (): Carrier => {
    if (channel === 'redirect') {
      const query = mutateQuery(write(given, [], genuine), random);
      return () => ({ channel, query, expected });
    }
    const body = mutateBody(write(given, [], ''), random);
    return (signature) => ({ channel, signature, body });
  };

  const unchanged = carrying([]);
  const signatures = Array.from({ length: headers }, () =>
    mutateHeader(genuine, { subject: from, key, fields, t, s }, random),
  );
  signatures.push(given.parts.map((part) => ({ t: `t=${t}`, s: `s=${s}` })[part] ?? part).join());
  const changed = edits.map((one) => carrying([one]));
  changed.push(carrying([], { ...given, fields: shifted(fields, given.seed) }));
  for (let count = 0; count < texts; count++) changed.push(spoiled());
  put(unchanged, genuine, 0);
  for (const one of signatures) put(unchanged, one, 1);
  for (const one of changed) put(one, genuine, 1);
  for (const one of changed.slice(0, signedAgain))
    put(one, `t=${t},s=${from.second.digest(readLeniently(one(genuine)), key)}`, 2);
  for (let count = 0; count < pairs; count++) put(random.pick(changed), random.pick(signatures), 2);
  put(carrying(edits), random.pick([genuine, ...signatures]), edits.length);
  return { from, candidates };
}

/** Mostly as a string, which is read fastest; otherwise as bytes, or parsed. */
function form(text: string, roll: number): unknown {
  if (roll < 0.75) return text;
  if (roll < 0.9) return new TextEncoder().encode(text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function plain(signature: unknown): string {
  return typeof signature === 'string' ? signature : 'nonsense';
}

/** The same signed string split elsewhere, if it has more than four `:`. */
function shifted(fields: Structure['fields'], at: number): Structure['fields'] {
  const pieces = fields.join(':').split(':');
  const more = Math.max(0, pieces.length - NAMES.length);
  const next = (index: number): string => pieces.splice(0, index === at % 5 ? 1 + more : 1).join(':');
  return [next(0), next(1), next(2), next(3), next(4)];
}

/** The five fields as a verifier would read them that converts other values to strings, and takes the last of two. */
export function readLeniently(input: Input): readonly string[] {
  if (input.channel === 'redirect') {
    const given = new URLSearchParams(input.query.replace(/^.*\?/, ''));
    return NAMES.map((name) => given.getAll(name).at(-1) ?? given.getAll(`payload[${name}]`).at(-1) ?? '');
  }
  let { body } = input;
  try {
    if (body instanceof Uint8Array) body = new TextDecoder().decode(body);
    if (typeof body === 'string') body = JSON.parse(body);
  } catch {
    return [String(body)];
  }
  const at = (holder: unknown, name: string): unknown =>
    holder instanceof Object ? Reflect.get(holder, name) : undefined;
  const payload = at(body, 'payload');
  return NAMES.map((name) => {
    const value = at(name === 'event' ? body : payload, name);
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  });
}
