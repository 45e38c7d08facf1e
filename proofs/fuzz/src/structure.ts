import fc from 'fast-check';
import { ODD } from './originals.ts';
import { NAMES } from './second-verifier.ts';
import { asVector, faultOf, type Input, type Subject, secondVerdict } from './subject.ts';

const [plain, binary] = [fc.string(), fc.string({ unit: 'binary' })];
const text = fc.oneof(fc.constantFrom(...ODD), plain, binary, fc.constant('ORD-1'));
const name = fc.oneof(fc.constantFrom(...NAMES, 'payload', 'hmac_signature', '__proto__'), text);
const value = fc.oneof(fc.jsonValue({ maxDepth: 6 }), text);
const parts = fc.array(fc.oneof(fc.constantFrom('t', 's', 'v=1', ''), text), { maxLength: 4 });
const shape = fc.record({
  index: fc.nat(),
  fields: fc.tuple(text, text, text, text, text),
  outer: fc.array(fc.tuple(name, value), { maxLength: 3 }),
  payload: fc.array(fc.tuple(name, value), { maxLength: 4 }),
  isFirst: fc.boolean(),
  parts: fc.oneof(
    { weight: 3, arbitrary: fc.constant<string[]>(['t', 's']) },
    { weight: 1, arbitrary: parts },
  ),
  isRedirect: fc.boolean(),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

/**
 * Structures that no list of edits contains: any JSON, any Unicode, any order and number of members, parts and pairs.
 *
 * @returns the smallest structure that fast-check finds for which the two verifiers differ.
 */
export function checkStructures(
  all: readonly Subject[],
  seed: number,
  inputs: number,
): { readonly inputs: number; readonly failure: string | undefined } {
  const differs = (given: Shape): readonly [fault: string, vector: object] | undefined => {
    const subject = all[given.index % all.length] as Subject;
    const input = inputOf(subject, given);
    const fault = faultOf(subject.core, input, secondVerdict(subject, input));
    subject.second.forget();
    return fault && [fault, asVector(subject.options, input)];
  };
  const property = fc.property(shape, (given) => differs(given) === undefined);
  const { failed, numRuns, counterexample } = fc.check(property, { seed, numRuns: inputs });
  const [least] = counterexample ?? [];
  return { inputs: numRuns, failure: failed && least ? JSON.stringify(differs(least)) : undefined };
}

function inputOf(subject: Subject, { fields, outer, payload, isFirst, parts, isRedirect }: Shape): Input {
  const s = subject.second.digest(fields);
  const signature = parts
    .map((part) => (part === 't' ? 't=1700000010' : part === 's' ? `s=${s}` : part))
    .join();
  const signed = fields.map((field, index): [string, unknown] => [NAMES[index] ?? '', field]);
  const join = (own: [string, unknown][], others: [string, unknown][]): [string, unknown][] =>
    isFirst ? [...own, ...others] : [...others, ...own];
  if (isRedirect) {
    const pairs = join([...signed, ['hmac_signature', signature]], [...outer, ...payload]);
    const query = pairs
      .map(([key, set]) => `${encoded(key)}=${encoded(typeof set === 'string' ? set : JSON.stringify(set))}`)
      .join('&');
    return { channel: 'redirect', query, expected: undefined };
  }
  const object = (members: [string, unknown][], more: string[] = []): string =>
    `{${[...members.map(([key, set]) => `${JSON.stringify(key)}:${JSON.stringify(set)}`), ...more].join()}}`;
  const inner = object(join(signed.slice(1), payload));
  const body = object(join(signed.slice(0, 1), outer), [`"payload":${inner}`]);
  return { channel: 'callback', signature, body };
}

function encoded(given: string): string {
  return encodeURIComponent(given.toWellFormed());
}
