import { NAMES, type VectorOptions } from './second-verifier.ts';
import { subject } from './subject.ts';

const SIGNED = { now_ms: 1_700_000_010_000, signing_key: 'Zq8sT4vLm2XwRk7PbN5cJd9HfGy3Ua6e' };
const PATTERNS = ['^a*$', '^a(:a)?$', '^[^]*$', '^.{0,2}$', '^$'];
const RULES: readonly (readonly [name: string, options: VectorOptions])[] = [
  ['the default rule', SIGNED],
  ['colonIn: merchant_reference', { ...SIGNED, colon_in: 'merchant_reference' }],
  ...(['merchant_reference', 'internal_reference'] as const).flatMap((colon_in) =>
    PATTERNS.map((merchant_reference_pattern): [string, VectorOptions] => [
      `colonIn: ${colon_in}, references ${merchant_reference_pattern}`,
      { ...SIGNED, colon_in, merchant_reference_pattern },
    ]),
  ),
];

export interface Injectivity {
  readonly rule: string;
  readonly readings: number;
  readonly accepted: number;
  /** Signed strings that core accepts with two readings. */
  readonly shared: number;
}

/**
 * Asks core about every reading of five fields over an alphabet that includes `:`, each with the signature of its joined
 * string: no string may be accepted with two readings.
 *
 * @returns a row for each rule; the last one is the control, which accepts every reading.
 */
export function countShared(alphabet: string, longest: number): readonly Injectivity[] {
  const all = words(alphabet, longest);
  const rows = RULES.map(([rule, options]) => {
    const { core, second } = subject(options);
    return count(rule, all, (fields) => {
      const [event, ...inner] = fields;
      const payload = Object.fromEntries(inner.map((value, index) => [NAMES[index + 1] ?? '', value]));
      const signature = `t=1,s=${second.digest(fields)}`;
      return core({ channel: 'callback', signature, body: { event, payload } }).ok;
    });
  });
  return [...rows, count('control: no rule on colons', all, () => true)];
}

function count(
  rule: string,
  all: readonly string[],
  accepts: (fields: readonly string[]) => boolean,
): Injectivity {
  const times = new Map<string, number>();
  let [readings, accepted] = [0, 0];
  for (const fields of tuples(all, NAMES.length)) {
    readings++;
    if (!accepts(fields)) continue;
    accepted++;
    const joined = fields.join(':');
    times.set(joined, (times.get(joined) ?? 0) + 1);
  }
  return { rule, readings, accepted, shared: [...times.values()].filter((often) => often > 1).length };
}

function words(alphabet: string, longest: number): readonly string[] {
  const all = [''];
  for (const word of all) if (word.length < longest) for (const letter of alphabet) all.push(word + letter);
  return all;
}

function* tuples(all: readonly string[], length: number): Generator<readonly string[]> {
  if (length === 0) yield [];
  else for (const rest of tuples(all, length - 1)) for (const word of all) yield [word, ...rest];
}
