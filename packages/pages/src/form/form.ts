import { html } from 'hono/html';
import type { Markup } from '../frame/layout.ts';

/** Why a form was refused, in a sentence, and the name of the wrong field, if there is one. */
export interface Problem {
  readonly text: string;
  readonly field?: string | undefined;
}

/** The values that a form shows instead of its defaults. */
export interface Filled {
  /** The id of the form. */
  readonly form: string;
  readonly typed: Readonly<Record<string, string>>;
  readonly problem?: Problem | undefined;
}

/** One field of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly type?: 'text' | 'number' | 'url' | 'date' | 'file';
  readonly hint?: string;
  /** Also allows numbers below zero. */
  readonly isSigned?: boolean;
  /** The minimum number of lines of an area. @default 2 */
  readonly rows?: number;
  /** A choice without a default: the browser asks for one. */
  readonly isRequired?: boolean;
  /** Another choice changes the rest of the form. */
  readonly isLeading?: boolean;
}

/** The fields of one form. They show the submitted values if this form was submitted. */
export function fieldsOf(form: string, filled: Filled | undefined) {
  const mine = filled?.form === form ? filled : undefined;
  const problem = mine?.problem;
  const named = problem?.field;
  const shown = new Set<string>();
  // The fields of a submitted form have no defaults: the reader may have emptied them.
  const typed = (name: string, value: string): string =>
    mine?.typed[name] ?? (problem === undefined ? value : '');
  const wrap = ({ name, label, hint }: Field, control: (extra: Markup) => Markup): Markup => {
    shown.add(name);
    const id = `${form}-${name}`;
    const isWrong = problem !== undefined && named === name;
    const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(isWrong ? [`${id}-problem`] : [])];
    const by = described.length === 0 ? '' : html` aria-describedby="${described.join(' ')}"`;
    const extra = html`id="${id}" name="${name}"${isWrong ? html` aria-invalid="true" autofocus` : ''}${by}`;
    const below = hint === undefined ? '' : html`<p class="quiet small" id="${id}-hint">${hint}</p>`;
    const wrong = isWrong ? html`<p class="problem small" id="${id}-problem">${problem.text}</p>` : '';
    return html`<div class="field"><label for="${id}">${label}</label>${control(extra)}${below}${wrong}</div>`;
  };
  return {
    /** The problem that belongs to none of the fields above. Call it last. */
    problem: (): Markup | string =>
      problem === undefined || (named !== undefined && shown.has(named))
        ? ''
        : html`<p class="note bad" role="alert">${problem.text}</p>`,
    field: (one: Field): Markup => {
      const { name, value = '', type = 'text', isSigned } = one;
      const content = type === 'file' ? '' : html` value="${typed(name, value)}"`;
      const limits = isSigned ? '' : html` min="0" inputmode="decimal"`;
      const number = type === 'number' ? html` step="any"${limits}` : '';
      return wrap(one, (extra) => html`<input ${extra} type="${type}"${content}${number}>`);
    },
    /** Several lines. The line break after the tag is not part of the value. */
    area: (one: Field): Markup => {
      const content = typed(one.name, one.value ?? '');
      const rows = Math.min(24, Math.max(one.rows ?? 2, content.split('\n').length + 1));
      return wrap(
        one,
        (extra) => html`<textarea ${extra} rows="${rows}" spellcheck="false">
${content}</textarea>`,
      );
    },
    choice: (one: Field, options: readonly (readonly [value: string, text: string])[]): Markup => {
      const chosen = typed(one.name, one.value ?? '');
      const choices = options.map(
        ([value, text]) =>
          html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`,
      );
      const more = html`${one.isLeading ? html` data-leading` : ''}${one.isRequired ? html` required` : ''}`;
      return wrap(one, (extra) => html`<select ${extra}${more}>${choices}</select>`);
    },
    check: ({ name, label, value = '' }: Field): Markup =>
      html`<label class="check" for="${form}-${name}"><input type="checkbox" id="${form}-${name}" name="${name}" value="yes"${typed(name, value) === '' ? '' : html` checked`}> ${label}</label>`,
  };
}

/** What a form sends besides its fields. */
export const hiddenFields = (values: Readonly<Record<string, string>>): Markup =>
  html`${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

interface FormContent {
  readonly fields?: Markup | string;
  readonly button: string | Markup;
  readonly kind?: 'main' | 'danger' | '';
  /** Other buttons. The Enter key uses the first button of a form. */
  readonly before?: Markup | string;
  readonly after?: Markup | string;
  /** Values that are sent with the fields. */
  readonly hidden?: Readonly<Record<string, string>>;
  /** True if a field is a file. */
  readonly isMultipart?: boolean;
}

/** A form with one button, which is sent to `action`. The reader returns to its id. */
export function form(id: string, action: string, content: FormContent): Markup {
  const { fields = '', button, kind = '', before = '', after = '', hidden = {}, isMultipart } = content;
  return html`<form method="post" action="${action}" id="${id}" class="form columns"${isMultipart ? html` enctype="multipart/form-data"` : ''}>${hiddenFields({ at: id, ...hidden })}
${fields}<div class="actions">${before}<button class="${kind}">${button}</button>${after}</div></form>`;
}
