import type { SeededRandom } from '@payment-service/durability/history/seeded-random.ts';
import type { VectorOptions } from './second-verifier.ts';
import { type Subject, subject } from './subject.ts';

const NOW = { now_ms: 1_700_000_010_000 };
const KEY = 'Zq8sT4vLm2XwRk7PbN5cJd9HfGy3Ua6e';
const [NEW, PAST] = ['aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zC', 'n0Yt5Rf8Wq1Zx4Cv7Bm2Lk9Jh3Gd6Sap'];
const RING = [
  { id: 'new', key: NEW, not_after: '2030-01-01T00:00:00Z' },
  { id: 'old', key: KEY },
  { id: 'past', key: PAST, not_after: '2023-11-01T00:00:00Z' },
];
const ORDERS = '^ORD-[0-9]+$';
const SPLIT_ORDERS = '^ORD-[0-9]+(:[0-9]+)?$';

/** The options of a run's verifiers: each option that affects a verdict, alone and with others. */
const OPTIONS: readonly VectorOptions[] = [
  { ...NOW, signing_key: KEY },
  { ...NOW, signing_keys: RING },
  { ...NOW, signing_key: KEY, colon_in: 'merchant_reference' },
  { ...NOW, signing_key: KEY, colon_in: 'merchant_reference', merchant_reference_pattern: SPLIT_ORDERS },
  { ...NOW, signing_key: KEY, colon_in: 'internal_reference', merchant_reference_pattern: ORDERS },
  { ...NOW, signing_keys: RING, colon_in: 'internal_reference', merchant_reference_pattern: SPLIT_ORDERS },
  { ...NOW, signing_key: KEY, tolerance_seconds: 30 },
  {
    ...NOW,
    signing_keys: RING,
    tolerance_seconds: 0.7,
    redirect_defaults: { event: 'transaction.completed', transaction_type: 'COLLECTION' },
  },
  {
    ...NOW,
    signing_key: `clé-ключ-鉵-🔑${KEY}${NEW}`,
    redirect_defaults: { event: 'transaction.completed' },
  },
];

export function subjects(): readonly Subject[] {
  return OPTIONS.map(subject);
}

/** A callback or redirect as the service signs it, before any change. */
export interface Original {
  readonly subject: Subject;
  readonly key: number;
  readonly fields: readonly string[];
  readonly t: string;
  readonly s: string;
}

export function original(all: readonly Subject[], random: SeededRandom): Original {
  // The first one has the default rules, which most merchants have.
  const index = random.next() < 0.3 ? 0 : random.between(0, all.length - 1);
  const chosen = all[index] ?? (all[0] as Subject);
  const keys = chosen.options.signing_keys?.length ?? 1;
  const key = random.between(0, keys - 1);
  const fields = [
    random.next() < 0.8 ? 'transaction.completed' : odd(random),
    random.next() < 0.8 ? `ORD-${random.between(1, 99_999)}${tail(random)}` : odd(random),
    random.next() < 0.9 ? `INT-${random.between(1, 99_999)}${tail(random)}` : odd(random),
    random.next() < 0.9 ? 'COLLECTION' : odd(random),
    random.next() < 0.9 ? 'COMPLETED' : odd(random),
  ];
  return { subject: chosen, key, fields, t: time(random), s: chosen.second.digest(fields, key) };
}

function tail(random: SeededRandom): string {
  const roll = random.next();
  return roll < 0.9 ? '' : roll < 0.96 ? `:${random.between(1, 9)}` : roll < 0.98 ? ':' : ':a:b';
}

/** Strings that have confused verifiers before. */
export const ODD: readonly string[] = [
  '',
  ' ',
  ':',
  'a:b',
  'undefined',
  'null',
  'true',
  '1001',
  '[object Object]',
  't=1,s=2',
  'ORD%3A1',
  'A+B&event=x',
  'Cafe\u0301',
  'Caf\u00e9',
  '\ufffd',
  '\ufeffORD',
  '\u0000',
  '\u001b[2J',
  '"\\/\'',
  '\u{1f600}',
  '\uff1a',
  'x'.repeat(300),
];

export function odd(random: SeededRandom): string {
  return random.pick(ODD);
}

function time(random: SeededRandom): string {
  const roll = random.next();
  if (roll < 0.7) return '1700000010';
  if (roll < 0.8) return String(1_700_000_010_000 + random.between(-40_000, 40_000));
  if (roll < 0.9) return String(1_700_000_010 + random.between(-40, 40));
  return random.pick(TIMES);
}
export const TIMES: readonly string[] = [
  '0',
  'now',
  '-5',
  '0x10',
  '1e3',
  '1700000010.5',
  '99999999999',
  '100000000000',
  '0001700000010',
  '9'.repeat(40),
  '\u0661\u0667',
  'NaN',
];
