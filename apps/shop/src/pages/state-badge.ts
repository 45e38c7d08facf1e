import type { TransitionSummary } from '@payment-service/inbox';
import { html } from 'hono/html';
import { isFailure, isHeld } from '../inbox-words.ts';
import type { Order } from '../order.ts';
import { orderState } from '../order.ts';
import type { Markup } from './page.ts';

/** The state of a transition. A failed payment was applied as well, and is not shown as a success. */
export function stateBadge(transition: Pick<TransitionSummary, 'state' | 'signed'>): Markup {
  const { state } = transition;
  if (isFailure(transition)) {
    return html`<span class="badge bad">failed</span> <span class="badge off">${state}</span>`;
  }
  const mood = isHeld(transition) ? 'bad' : state === 'settled' ? 'on' : 'off';
  return html`<span class="badge ${mood}">${state}</span>`;
}

export function orderBadge(order: Order): Markup {
  const state = orderState(order);
  const mood = state === 'paid' ? 'on' : state === 'failed' ? 'bad' : 'off';
  return html`<span class="badge ${mood}">${state}</span>`;
}
