import { type fieldsOf, html, type Markup } from '@payment-service/pages';
import { type Declared, groups, misbehaviours } from '../../deliveries/misbehaviours.ts';
import { asObject, readJson } from '../../state/json-values.ts';
import type { Misbehaviour } from '../../state/misbehaviour.ts';
import { refuse } from '../../state/refusal.ts';

/** The fields of a form, as typed. */
export type FormValues = Readonly<Record<string, string>>;

/** The reader of each control's value. */
const readers: Readonly<Record<Declared['control'], (text: string, name: string) => unknown>> = {
  flag: () => true,
  number: Number,
  text: String,
  area: String,
  choice: String,
  names: (text) => text.split(/[\s,]+/).filter((one) => one !== ''),
  json: objectIn,
};

/** The changes in a form, not yet checked. */
export function changesIn(fields: FormValues): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [name, { control }] of misbehaviours) {
    // Forms are sent with CRLF line breaks.
    const text = fields[name]?.replaceAll('\r\n', '\n') ?? '';
    if (text !== '') changes[name] = readers[control](text, name);
  }
  return changes;
}

function objectIn(text: string, name: string): unknown {
  const value = asObject(readJson(text));
  if (value !== undefined) return value;
  const message = `${name}: must be a JSON object, such as {"note": "hello"}`;
  refuse('malformed_request', message, name);
}

/** The values of a form for these changes. */
export function fieldsFrom(changes: Misbehaviour): Record<string, string> {
  const shown = Object.entries(changes).filter(([, value]) => value !== false);
  return Object.fromEntries(shown.map(([name, value]) => [name, typedText(value)]));
}

function typedText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Related controls, collapsed while none of them is set: all expanded, they would fill several screens of a phone. */
export const group = (id: string, title: string, isOpen: boolean, fields: Markup): Markup =>
  html`<details id="group-${id}"${isOpen ? html` open` : ''}><summary>${title}</summary><div class="form columns">${fields}</div></details>`;

/** A control for every change, with its current value, except for hidden ones. */
export function changeFields(
  { field, area, choice, check }: ReturnType<typeof fieldsOf>,
  set: FormValues,
  hidden: readonly (keyof Misbehaviour)[],
): Markup {
  const isShown = (name: string): boolean => !hidden.some((one) => one === name);
  const controlOf = (name: string, declared: Declared): Markup => {
    const { control, choices = [] } = declared;
    const shown = { ...declared, name, value: set[name] ?? '' };
    if (control === 'flag') return check(shown);
    if (control === 'choice') return choice(shown, choices);
    if (control === 'area' || control === 'json') return area(shown);
    return field({ ...shown, type: control === 'number' ? 'number' : 'text' });
  };
  return html`${Object.entries(groups).map(([id, title]) => {
    const own = [...misbehaviours].filter(([name, one]) => one.group === id && isShown(name));
    if (own.length === 0) return '';
    const isOpen = own.some(([name]) => (set[name] ?? '') !== '');
    return group(id, title, isOpen, html`${own.map(([name, one]) => controlOf(name, one))}`);
  })}`;
}
