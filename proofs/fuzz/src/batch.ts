import { type SeededRandom, seededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { type Model, model, mutateModel, mutateText, render } from './mutate-body.ts';
import { header, mutateHeader } from './mutate-header.ts';
import { mutateQuery, pairs, spoilQuery } from './mutate-query.ts';
import { type Original, original } from './originals.ts';
import { NAMES } from './second-verifier.ts';
import type { Input, Subject } from './subject.ts';

/**
 * Receives an input and its number of edits from the original of its batch, which comes first, with 0. If a body was signed
 * again after an edit, the new signature counts as another edit.
 */
export type Take = (input: Input, edits: number) => void;

const HEADERS = 30;
const BODIES = 14;
const SIGNED_AGAIN = 5;
const PAIRED = 60;
const QUERIES = 24;

/** The seed and the number alone determine the contents of a batch, so a run can resume anywhere. */
export function batch(
  all: readonly Subject[],
  seed: number,
  number: number,
): { from: Original; fill: (take: Take) => void } {
  const random = seededRandom(seed, number);
  const from = original(all, random);
  const fill = random.next() < 0.8 ? callbacks : redirects;
  return { from, fill: (take) => fill(from, random, take) };
}

function callbacks(from: Original, random: SeededRandom, take: Take): void {
  const callback = (signature: unknown, body: unknown, edits: number): void =>
    take({ channel: 'callback', signature, body }, edits);
  const genuine = header(from);
  const start = model(from, random);
  const text = render(start);
  callback(genuine, text, 0);
  callback(genuine, new TextEncoder().encode(text), 0);
  callback(genuine, JSON.parse(text), 0);
  const headers = Array.from({ length: HEADERS }, () => mutateHeader(genuine, from, random));
  for (const one of headers) callback(one, text, 1);
  const bodies: unknown[] = [];
  for (let count = 0; count < BODIES; count++) {
    const isText = random.next() < 0.35;
    bodies.push(isText ? mutateText(text, random) : form(mutateModel(start, from, random), random));
  }
  for (const one of bodies) callback(genuine, one, 1);
  for (let count = 0; count < SIGNED_AGAIN; count++) {
    const changed = render(mutateModel(start, from, random));
    callback(`t=${from.t},s=${from.subject.second.digest([coerced(changed)], from.key)}`, changed, 2);
  }
  for (let count = 0; count < PAIRED; count++)
    callback(headers[random.between(0, HEADERS - 1)], bodies[random.between(0, BODIES - 1)], 2);
  let [signature, changed, edits] = [mutateHeader(genuine, from, random), start, 1];
  for (; edits < 4; edits++) changed = mutateModel(changed, from, random);
  if (random.next() < 0.5) signature = mutateHeader(signature, from, random);
  callback(signature, mutateText(render(changed), random), edits + 1);
}

/** Mostly as a string, which is read fastest; otherwise as bytes, or parsed. */
function form(changed: Model, random: SeededRandom): unknown {
  const text = render(changed);
  const roll = random.next();
  if (roll < 0.75) return text;
  return roll < 0.9 ? new TextEncoder().encode(text) : JSON.parse(text);
}

/** The string that a verifier would sign if it converted other values to strings. */
function coerced(text: string): string {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return text;
  }
  const at = (holder: unknown, name: string): unknown =>
    holder instanceof Object ? Reflect.get(holder, name) : undefined;
  const payload = at(data, 'payload');
  return NAMES.map((name) => converted(at(name === 'event' ? data : payload, name))).join(':');
}

export function converted(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function redirects(from: Original, random: SeededRandom, take: Take): void {
  const reference = from.fields[1] ?? '';
  const expected = random.next() < 0.8 ? undefined : random.pick([reference, reference, `${reference} `, '']);
  const redirect = (query: string, edits: number): void =>
    take({ channel: 'redirect', query, expected }, edits);
  const start = pairs(from, random);
  redirect(start.join('&'), 0);
  for (let count = 0; count < QUERIES; count++) {
    const isText = random.next() < 0.3;
    redirect(isText ? spoilQuery(start.join('&'), random) : mutateQuery(start, from, random).join('&'), 1);
  }
  let changed = start;
  for (let edits = 1; edits < 4; edits++) {
    changed = mutateQuery(changed, from, random);
    if (changed.length === 0) return;
    if (edits > 1) redirect(changed.join('&'), edits);
  }
}
