import { type fieldsOf, html, type Markup } from '@payment-service/pages';
import { type Declared, groups, misbehaviours } from '../../deliveries/misbehaviours.ts';
import { asObject, readJson } from '../../state/fields.ts';
import type { Misbehaviour } from '../../state/misbehaviour.ts';
import { refuse } from '../../state/refusal.ts';

/** The fields of a form, as they were typed. */
export type FormValues = Readonly<Record<string, string>>;

/** How the value of each control is read. */
const readers: Readonly<Record<Declared['control'], (text: string, name: string) => unknown>> = {
  flag: () => true,
  number: Number,
  text: String,
  area: String,
  choice: String,
  names: (text) => text.split(/[\s,]+/).filter((one) => one !== ''),
  json: objectIn,
};

/** The changes that a form asks for, not checked yet. */
export function changesIn(fields: FormValues): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [name, { control }] of misbehaviours) {
    // Forms are sent with the line breaks of mail.
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

/** What a form shows of changes that are set. */
export function fieldsFrom(changes: Misbehaviour): Record<string, string> {
  const shown = Object.entries(changes).filter(([, value]) => value !== false);
  return Object.fromEntries(shown.map(([name, value]) => [name, typedText(value)]));
}

function typedText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Controls that belong together, closed while none of them is set: opened together they would fill several screens of a phone. */
export const group = (id: string, title: string, isOpen: boolean, fields: Markup): Markup =>
  html`<details id="group-${id}"${isOpen ? html` open` : ''}><summary>${title}</summary><div class="form columns">${fields}</div></details>`;

/** Every change as a control that shows what is set, but for those that are hidden. */
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
