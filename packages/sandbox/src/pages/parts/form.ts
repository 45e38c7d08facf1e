import { html } from 'hono/html';
import type { SandboxRefusal } from '../../service/refusal.ts';
import type { Markup } from './layout.ts';

/** What a form shows in place of its defaults. */
export interface Filled {
  /** The id of the form. */
  readonly form: string;
  readonly typed: Readonly<Record<string, string>>;
  readonly refusal?: SandboxRefusal;
}

/** What a form shows again when it was refused: what was typed, and what is wrong. */
export interface Refused extends Filled {
  readonly refusal: SandboxRefusal;
}

/** How a form asks for one thing. */
interface Field {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly type?: 'text' | 'number' | 'url';
  readonly hint?: string;
  /** For numbers below zero as well. */
  readonly isSigned?: boolean;
  /** Another choice changes what the rest of the form offers. */
  readonly isLeading?: boolean;
}

/** The form's names of fields that requests name differently. */
const fieldNames: Readonly<Record<string, string>> = {
  provider_code: 'provider',
  mode: 'ending',
  outcome: 'ending',
};

/** In place of a validator's text, which speaks of types. */
const words: Readonly<Record<string, string>> = {
  merchant_reference: 'Enter a reference of 1 to 128 characters.',
  amount: 'Enter an amount above zero, such as 500.',
  account: 'Enter an account or mobile number of at most 128 characters.',
  customer_name: 'Enter a name of at most 128 characters.',
  advance_seconds: 'Enter whole seconds, from 0 to 10 years.',
  currency: 'Choose a currency.',
  duplicate: 'Enter a whole number from 0 to 10.',
  late_ms: 'Enter whole milliseconds, at most 7 days.',
  redirect_lead_ms: 'Enter whole milliseconds, at most 7 days.',
  t_offset_seconds: 'Enter whole seconds, at most 10 years back or ahead.',
  forged_amount: 'Enter an amount, such as 1.',
  forged_currency: 'Enter three capital letters, such as USD.',
  event: 'Enter at most 128 characters.',
  status: 'Enter at most 128 characters.',
  omit_fields: 'Enter names of at most 128 characters.',
  body: 'Enter at most 65,536 characters.',
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
  const own = name === undefined ? undefined : words[name];
  if (/^(Invalid|Too |Unrecognized|Expected)/.test(rest)) return own ?? `Check the field ${name}.`;
  return `This ${rest.replace(/\.?$/, '.')}`;
}

/** The fields of one form. They show what it was filled with when this form is the one. */
export function fieldsOf(form: string, filled: Filled | undefined) {
  const mine = filled?.form === form ? filled : undefined;
  const refusal = mine?.refusal;
  const named = refusal?.field;
  const shown = new Set<string>();
  const wrong = named === undefined ? undefined : (fieldNames[named] ?? named);
  // A form that was sent has no empty fields: they were emptied.
  const typed = (name: string, value: string): string =>
    mine?.typed[name] ?? (refusal === undefined ? value : '');
  const wrap = (
    name: string,
    label: string,
    hint: string | undefined,
    control: (extra: Markup) => Markup,
  ): Markup => {
    shown.add(name);
    const id = `${form}-${name}`;
    const isWrong = refusal !== undefined && wrong === name;
    const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(isWrong ? [`${id}-problem`] : [])];
    const extra = html`id="${id}" name="${name}"${isWrong ? html` aria-invalid="true" autofocus` : ''}${
      described.length === 0 ? '' : html` aria-describedby="${described.join(' ')}"`
    }`;
    return html`<div class="field"><label for="${id}">${label}</label>${control(extra)}${
      hint === undefined ? '' : html`<span class="quiet small" id="${id}-hint">${hint}</span>`
    }${isWrong ? html`<span class="problem small" id="${id}-problem">${sentence(refusal)}</span>` : ''}</div>`;
  };
  return {
    /** What is wrong and belongs to none of the fields above. Call it last. */
    problem: (): Markup | string =>
      refusal === undefined || (wrong !== undefined && shown.has(wrong))
        ? ''
        : html`<p class="note bad" role="alert">${sentence(refusal)}</p>`,
    field: ({ name, label, value = '', type = 'text', hint, isSigned }: Field): Markup =>
      wrap(
        name,
        label,
        hint,
        (extra) =>
          html`<input ${extra} type="${type}" value="${typed(name, value)}"${type === 'number' ? html` step="any"${isSigned ? '' : html` min="0" inputmode="decimal"`}` : ''}>`,
      ),
    /** Several lines. The line break after the tag is not part of the value. */
    area: ({ name, label, value = '', hint }: Field): Markup =>
      wrap(
        name,
        label,
        hint,
        (
          extra,
        ) => html`<textarea ${extra} rows="${Math.min(24, typed(name, value).split('\n').length + 1)}" spellcheck="false">
${typed(name, value)}</textarea>`,
      ),
    choice: (
      { name, label, value = '', hint, isLeading }: Field,
      options: readonly (readonly [value: string, text: string])[],
    ): Markup => {
      const chosen = typed(name, value);
      return wrap(
        name,
        label,
        hint,
        (extra) =>
          html`<select ${extra}${isLeading ? html` data-leading` : ''}>${options.map(
            ([one, text]) =>
              html`<option value="${one}"${one === chosen ? html` selected` : ''}>${text}</option>`,
          )}</select>`,
      );
    },
    check: ({ name, label, value = '' }: Field): Markup =>
      html`<label class="check" for="${form}-${name}"><input type="checkbox" id="${form}-${name}" name="${name}" value="yes"${typed(name, value) === '' ? '' : html` checked`}> ${label}</label>`,
  };
}

/** A form with one button. Its id is where the reader comes back to. */
export const form = (
  id: string,
  action: string,
  {
    fields = '',
    button,
    kind = '',
    before = '',
    after = '',
  }: {
    fields?: Markup | string;
    button: string | Markup;
    kind?: 'main' | 'danger' | '';
    /** Other buttons. The first button of a form is the one of the Enter key. */
    before?: Markup | string;
    after?: Markup | string;
  },
): Markup =>
  html`<form method="post" action="/dashboard/${action}" id="${id}" class="form columns"><input type="hidden" name="at" value="${id}">
${fields}<div class="actions">${before}<button class="${kind}">${button}</button>${after}</div></form>`;

/** A button that shows the page again with what is typed, and sends nothing. */
export const askAgain = (path: string, label: string): Markup =>
  html`<button formmethod="get" formaction="${path}">${label}</button>`;

/** A button that does one thing. `at` is the id of what the reader comes back to. */
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
