import type { SeededRandom } from '@payment-service/durability/history/seeded-random.ts';
import { header, mutateHeader, spoil } from './mutate-header.ts';
import { type Original, odd } from './originals.ts';
import { NAMES } from './second-verifier.ts';

const STRAY: readonly string[] = [
  '&',
  ...'=%:+;?#[]é',
  ...['%ZZ', '%FF', '%C3%A9', '%c3', '%ED%A0%80', '%00', '%3A', '%2B', '%20', '[]', '%5B0%5D', '&event=x'],
];
const EXTRA: readonly string[] = [
  'utm=1',
  'flag',
  '',
  'id=7',
  'transaction_amount=500',
  'transaction_amount[]=5',
  'payload[transaction_amount]=5',
  'payload[channel]=ussd',
  'payload[event]=x',
  'payload[hmac_signature]=x',
  '__proto__=x',
  '__proto__[event]=x',
  'tag[]=1',
  'events=1',
  'xevent=2',
  'event.x=3',
  'Event=x',
  'hmac-signature=x',
];

/** The pairs of a redirect, of which the signature is one. */
export function pairs(original: Original, random: SeededRandom): string[] {
  const isNested = random.next() < 0.3;
  const { redirect_defaults = {} } = original.subject.options;
  const flat = original.fields.flatMap((value, index) => {
    const name = NAMES[index] ?? 'event';
    if (
      Object.entries(redirect_defaults).some(([one, set]) => one === name && set === value) &&
      random.next() < 0.5
    )
      return [];
    return [`${isNested && index > 0 ? `payload[${name}]` : name}=${encodeURIComponent(value)}`];
  });
  return [...flat, `hmac_signature=${header(original)}`];
}

/** One edit of a redirect's query. */
export function mutateQuery(given: readonly string[], original: Original, random: SeededRandom): string[] {
  const all = [...given];
  const at = random.between(0, all.length - 1);
  const chosen = all[at] ?? '';
  const equals = chosen.indexOf('=');
  const [name, value] = [chosen.slice(0, equals), chosen.slice(equals + 1)];
  const put = (pair: string): void => {
    all[at] = pair;
  };
  const add = (pair: string): void => {
    all.splice(random.between(0, all.length), 0, pair);
  };
  const signed = (): void => {
    const mutated = mutateHeader(header(original), original, random);
    const signature = all.findIndex((one) => one.startsWith('hmac_signature='));
    const text = typeof mutated === 'string' ? mutated : 'nonsense';
    const written = random.next() < 0.5 ? encodeURIComponent(text.toWellFormed()) : text;
    if (signature >= 0) all[signature] = `hmac_signature=${written}`;
  };
  const extra = (): void => add(random.pick(EXTRA));
  const edits: readonly (() => unknown)[] = [
    () => all.splice(at, 1),
    () => add(chosen),
    () => add(`${name}=${encodeURIComponent(odd(random))}`),
    () => add(`${name}${random.pick(['[]', '[x]', '%5B%5D', '[0]', '.x', ' '])}=${value}`),
    () => add(name.startsWith('payload[') ? `${name.slice(8, -1)}=${value}` : `payload[${name}]=${value}`),
    () => all.reverse(),
    extra,
    extra,
    () => put(`${name}=${encodeURIComponent(odd(random))}`),
    () => put(chosen.replace(/[a-z0-9]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)),
    () => put(`${name}=${value.replaceAll('%20', '+')}`),
    () => put(random.next() < 0.5 ? name : `${name.toUpperCase()}=${value}`),
    signed,
    signed,
    () => {
      const more = random.pick([100, 128 - all.length, 129 - all.length, 140]);
      all.push(...Array.from({ length: Math.max(0, more) }, (_, left) => `p${left + 1}=1`));
    },
    () => put(`${name}=${value.replaceAll('%', '%25')}`),
  ];
  const edit = edits[random.between(0, edits.length + 1)];
  if (edit === undefined) put(spoil(chosen, random, STRAY));
  else edit();
  return all;
}

export function spoilQuery(query: string, random: SeededRandom): string {
  if (random.next() < 0.3)
    return random.pick(['?', '/paid?', 'https://shop.example/a?', '??', '/', 'x?']) + query;
  return spoil(query, random, STRAY);
}
