import { count } from '@payment-service/pages';
import { wordsOf } from '../../deliveries/callbacks.ts';
import { defaultRetry, type Misbehaviour, type RetryRules, retryPresets } from '../../state/misbehaviour.ts';

/** A misbehaviour that the dashboard offers by name. */
export interface Preset {
  readonly name: string;
  readonly label: string;
  readonly misbehave: Misbehaviour;
}

/** The choices of the dashboard; the HTTP API takes every combination. */
export const presets: readonly Preset[] = [
  { name: 'none', label: 'Normal', misbehave: {} },
  { name: 'duplicate', label: 'Send it twice more', misbehave: { duplicate: 2 } },
  { name: 'lost', label: 'Lost: no callback', misbehave: { lost: true } },
  { name: 'late', label: 'Late: after 10 seconds', misbehave: { late_ms: 10_000 } },
  {
    name: 'out_of_order',
    label: 'Out of order: after the next transaction',
    misbehave: { out_of_order: true },
  },
  { name: 'forged_amount', label: 'Forged amount, valid signature', misbehave: { forged_amount: 1 } },
  {
    name: 'forged_first',
    label: 'Forged amount first, then the genuine one',
    misbehave: { forged_amount: 1, duplicate: 1 },
  },
  { name: 'bad_signature', label: 'Bad signature', misbehave: { bad_signature: true } },
  { name: 'redirect_first', label: 'Redirect before callback', misbehave: { redirect_first: true } },
];

/** What was chosen; nothing for a name that is not offered. */
export function misbehaviourOf(name: unknown): Misbehaviour {
  return presets.find((preset) => preset.name === name)?.misbehave ?? {};
}

/** The retry rules that the dashboard offers by name. */
export const retryChoices = [
  ['none', 'Never'],
  ['not-2xx', 'After any answer but 2xx'],
  ['5xx-and-429', 'After 5xx and 429 only'],
  ['below-500', 'After answers below 500 only, such as 429'],
] as const;

/** The label of the rules that are set, or the rules themselves where no preset names them. */
export function retryLabel(retry: Partial<RetryRules>): string {
  const { accepted, repeated } = { ...defaultRetry, ...retry };
  const [, label] =
    retryChoices.find(
      ([name]) => JSON.stringify(retryPresets[name]) === JSON.stringify({ accepted, repeated }),
    ) ?? [];
  return label ?? `After ${repeated.join(', ')}; ${accepted.join(', ')} counts as delivered`;
}

/** A misbehaviour in words: the preset's, or what is set. */
export function misbehaviourLabel(misbehave: Misbehaviour): string {
  const preset = presets.find((one) => JSON.stringify(one.misbehave) === JSON.stringify(misbehave));
  const { lost, duplicate = 0, late_ms = 0, out_of_order, redirect_first } = misbehave;
  const words = [
    ...wordsOf(misbehave),
    ...(lost ? ['no callback'] : []),
    ...(duplicate > 0 ? [`sent ${duplicate} times more`] : []),
    ...(late_ms > 0 ? [`${count(late_ms)} ms late`] : []),
    ...(out_of_order ? ['out of order'] : []),
    ...(redirect_first ? ['after the redirect'] : []),
  ];
  return preset?.label ?? words.join(', ');
}
