import { type Filled, type Markup, form as plainForm } from '@payment-service/pages';
import { html } from 'hono/html';
import { misbehaviours } from '../../deliveries/misbehaviours.ts';
import type { SandboxRefusal } from '../../state/refusal.ts';

/** The form's names of fields that requests name differently. */
const fieldNames: Readonly<Record<string, string>> = {
  provider_code: 'provider',
  mode: 'ending',
  outcome: 'ending',
};

/** In place of a validator's message, which speaks of types. */
const words: Readonly<Record<string, string>> = {
  merchant_reference: 'Enter a reference of 1 to 128 characters.',
  amount: 'Enter an amount above zero, such as 500.',
  account: 'Enter an account or mobile number of at most 128 characters.',
  customer_name: 'Enter a name of at most 128 characters.',
  advance_seconds: 'Enter whole seconds, from 0 to 10 years.',
  currency: 'Choose a currency.',
  max_attempts: 'Enter a whole number from 1 to 50.',
  backoff_ms: 'Enter whole milliseconds, at most 7 days.',
  api_latency_ms: 'Enter whole milliseconds, at most 60,000.',
  min_amount: 'Enter an amount of zero or more.',
  max_amount: 'Enter an amount of zero or more.',
  max_daily_amount: 'Enter an amount of zero or more.',
};

/** The sentence for the reader: a validator's "amount: Invalid input" never reaches a page. */
export function sentence({ message, field }: SandboxRefusal): string {
  const [, name = field, rest = message] = /^([a-z_]+): (.+)$/s.exec(message) ?? [];
  if (rest === message && !message.startsWith('Invalid')) return message;
  const own = words[name ?? ''] ?? misbehaviours.get(name ?? '')?.problem;
  if (/^(Invalid|Too |Unrecognized|Expected)/.test(rest)) return own ?? `Check the field ${name}.`;
  return `This ${rest.replace(/\.?$/, '.')}`;
}

/** A form that was refused shows again what was typed, and what is wrong. */
export const refusedForm = (form: string, typed: Filled['typed'], refusal: SandboxRefusal): Filled => {
  const { field = '' } = refusal;
  return { form, typed, problem: { text: sentence(refusal), field: fieldNames[field] ?? refusal.field } };
};

/** A form with one button. The reader returns to its id. */
export const form = (id: string, action: string, content: Parameters<typeof plainForm>[2]): Markup =>
  plainForm(id, `/dashboard/${action}`, content);

/** A button that shows the page again with what is typed, and sends nothing. */
export const askAgain = (path: string, label: string): Markup =>
  html`<button formmethod="get" formaction="${path}">${label}</button>`;

/** A button that does one thing. The reader returns to the id `at`. */
export const button = (
  action: string,
  label: string | Markup,
  {
    at,
    name,
    value,
    kind = '',
  }: { at: string; name?: string; value?: string; kind?: 'main' | 'danger' | '' },
): Markup =>
  html`<form method="post" action="/dashboard/${action}" id="${`${at}-${action}-${value ?? ''}`.replaceAll(/[^\w-]/g, '-')}"><input type="hidden" name="at" value="${at}">${
    name === undefined ? '' : html`<input type="hidden" name="${name}" value="${value ?? ''}">`
  }<button class="${kind}">${label}</button></form>`;
