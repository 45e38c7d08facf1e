import { wordsOf } from '../../deliveries/misbehaviours.ts';
import type { Misbehaviour } from '../../state/misbehaviour.ts';
import { defaultRetry, type RetryRules, retryPresets } from '../../state/retries.ts';

/** A misbehaviour that the service offers by name. */
export interface Preset {
  readonly name: string;
  readonly label: string;
  readonly misbehave: Misbehaviour;
}

/** The choices of the service; the HTTP API accepts every combination. */
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

/** The retry rules that the service offers by name. */
export const retryChoices: readonly (readonly [name: string, label: string])[] = Object.entries(
  retryPresets,
).map(([name, { label }]) => [name, label]);

/** The label of the rules that are set, or the rules themselves where no preset names them. */
export function retryLabel(retry: Partial<RetryRules>): string {
  const { accepted, repeated } = { ...defaultRetry, ...retry };
  const set = JSON.stringify({ accepted, repeated });
  const preset = Object.values(retryPresets).find(({ rules }) => JSON.stringify(rules) === set);
  return preset?.label ?? `After ${repeated.join(', ')}; ${accepted.join(', ')} counts as delivered`;
}

/** A misbehaviour in words: the preset's, or what is set. */
export function misbehaviourLabel(misbehave: Misbehaviour): string {
  const preset = presets.find((one) => JSON.stringify(one.misbehave) === JSON.stringify(misbehave));
  return preset?.label ?? wordsOf(misbehave).join(', ');
}
