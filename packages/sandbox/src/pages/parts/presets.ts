import { wordsOf } from '../../deliveries/misbehaviours.ts';
import type { Misbehaviour } from '../../state/misbehaviour.ts';
import { defaultRetry, type RetryRules, retryPresets } from '../../state/retries.ts';

/** The misbehaviours that the dashboard offers by name; the HTTP API accepts every combination. */
const offered: Readonly<Record<string, readonly [label: string, misbehave: Misbehaviour]>> = {
  none: ['Normal', {}],
  duplicate: ['Send it twice more', { duplicate: 2 }],
  lost: ['Lost: no callback', { lost: true }],
  late: ['Late: after 10 seconds', { late_ms: 10_000 }],
  out_of_order: ['Out of order: after the next transaction', { out_of_order: true }],
  forged_amount: ['Forged amount, valid signature', { forged_amount: 1 }],
  forged_first: ['Forged amount first, then the genuine one', { forged_amount: 1, duplicate: 1 }],
  bad_signature: ['Bad signature', { bad_signature: true }],
  redirect_first: ['Redirect before callback', { redirect_first: true }],
};

/** Their names and labels. */
export const presets: readonly (readonly [name: string, label: string])[] = Object.entries(offered).map(
  ([name, [label]]) => [name, label],
);

/** The chosen one; none for a name that is not offered. */
export const misbehaviourOf = (name = ''): Misbehaviour => offered[name]?.[1] ?? {};

/** The retry rules that the dashboard offers by name. */
export const retryChoices: readonly (readonly [name: string, label: string])[] = Object.entries(
  retryPresets,
).map(([name, { label }]) => [name, label]);

/** The label of the current rules, or the rules themselves if no preset has them. */
export function retryLabel(retry: Partial<RetryRules>): string {
  const { accepted, repeated } = { ...defaultRetry, ...retry };
  const set = JSON.stringify({ accepted, repeated });
  const preset = Object.values(retryPresets).find(({ rules }) => JSON.stringify(rules) === set);
  return preset?.label ?? `After ${repeated.join(', ')}; ${accepted.join(', ')} counts as delivered`;
}

/** A misbehaviour in words: the preset's label, or its values. */
export function misbehaviourLabel(misbehave: Misbehaviour): string {
  const preset = Object.values(offered).find(([, one]) => JSON.stringify(one) === JSON.stringify(misbehave));
  return preset?.[0] ?? wordsOf(misbehave).join(', ');
}
