import { html } from 'hono/html';
import type { SandboxAccount } from '../../state/account.ts';
import type { DeliveryAttempt, DeliveryRecord } from '../../state/records.ts';
import type { Markup } from '../parts/layout.ts';
import { note, type Tone } from '../parts/state.ts';

/** What an attempt came to, in words: what happened, what shows it, and what to do. */
export interface Outcome {
  readonly tone: Tone;
  readonly title: string;
  readonly detail: string;
  readonly fix: string;
}

export function outcomeOf(
  delivery: DeliveryRecord,
  attempt: DeliveryAttempt,
  _account: SandboxAccount,
): Outcome {
  const title = attempt.error ?? `Answered ${attempt.status}.`;
  return { tone: delivery.state === 'delivered' ? 'good' : 'bad', title, detail: '', fix: '' };
}

/** The outcome where the reader looks for it, with cause and fix. */
export const outcomeNote = ({ tone, title, detail, fix }: Outcome): Markup =>
  note(tone, title, detail, ...(tone === 'good' ? [] : [html`<strong>What to do:</strong> ${fix}`]));
