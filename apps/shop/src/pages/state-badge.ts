import type { TransitionState } from '@payment-service/inbox';
import { html } from 'hono/html';
import type { Markup } from './page.ts';

export function stateBadge(state: TransitionState): Markup {
  const bad = state === 'quarantined' || state === 'conflict' || state === 'dead';
  const mood = bad ? 'bad' : state === 'settled' ? 'on' : 'off';
  return html`<span class="badge ${mood}">${state}</span>`;
}
