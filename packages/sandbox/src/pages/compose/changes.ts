import type { Markup } from '@payment-service/pages';
import { html } from 'hono/html';
import { readJson } from '../../deliveries/content.ts';
import type { Misbehaviour } from '../../state/misbehaviour.ts';
import { SandboxRefusal } from '../../state/refusal.ts';
import type { fieldsOf } from '../parts/form.ts';

type Texts = Readonly<Record<string, string>>;

/** How each change is written in a form. */
const kinds = {
  lost: 'flag',
  duplicate: 'number',
  late_ms: 'number',
  out_of_order: 'flag',
  redirect_first: 'flag',
  redirect_lead_ms: 'number',
  forged_amount: 'number',
  forged_currency: 'text',
  bad_signature: 'flag',
  t_offset_seconds: 'number',
  t_unit: 'text',
  event: 'text',
  status: 'text',
  extra_fields: 'json',
  omit_fields: 'names',
  body: 'text',
  signature: 'text',
} as const satisfies Record<keyof Misbehaviour, string>;

/** The changes that a form asks for, not checked yet. */
export function changesIn(fields: Texts): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    // Forms are sent with the line breaks of mail.
    const text = fields[name]?.replaceAll('\r\n', '\n') ?? '';
    if (text === '') continue;
    if (kind === 'number') changes[name] = Number(text);
    else if (kind === 'flag') changes[name] = true;
    else if (kind === 'names') changes[name] = text.split(/[\s,]+/).filter((one) => one !== '');
    else if (kind === 'json') changes[name] = objectIn(name, text);
    else changes[name] = text;
  }
  return changes;
}

function objectIn(name: string, text: string): unknown {
  const value = readJson(text);
  if (typeof value === 'object' && value !== null) return value;
  const message = `${name}: must be a JSON object, such as {"note": "hello"}`;
  throw new SandboxRefusal(400, 'malformed_request', message, name);
}

/** What a form shows of changes that are set. */
export function fieldsFrom(changes: Misbehaviour): Record<string, string> {
  const shown = Object.entries(changes).filter(([, value]) => value !== false);
  return Object.fromEntries(
    shown.map(([name, value]) => [
      name,
      value === true
        ? 'yes'
        : Array.isArray(value)
          ? value.join(', ')
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value),
    ]),
  );
}

/** Controls that belong together, closed while none of them is set: all at once would fill several screens of a phone. */
export const group = (id: string, title: string, isOpen: boolean, fields: Markup): Markup =>
  html`<details class="group" id="group-${id}"${isOpen ? html` open` : ''}><summary>${title}</summary><div class="form columns">${fields}</div></details>`;

/** Every change as a control that shows what is set. */
export function changeFields(
  { field, area, choice, check }: ReturnType<typeof fieldsOf>,
  set: Texts,
  { body = true, isSent = false }: { body?: boolean; isSent?: boolean } = {},
): Markup {
  type Name = keyof typeof kinds;
  const shown = (name: Name) => ({ name, value: set[name] ?? '' });
  const isSet = (...names: Name[]): boolean => names.some((name) => shown(name).value !== '');
  return html`${group(
    'money',
    'Money, which is not signed',
    isSet('forged_amount', 'forged_currency'),
    html`${field({ ...shown('forged_amount'), label: 'Another amount', type: 'number', hint: 'The total stays consistent.' })}
${field({ ...shown('forged_currency'), label: 'Another currency', hint: 'Three capital letters.' })}`,
  )}
${group(
  'signature',
  'Signature, key and t',
  isSet('signature', 't_unit', 't_offset_seconds', 'bad_signature'),
  html`${choice({ ...shown('signature'), label: 'Changed fields' }, [
    ['', 'Sign anew'],
    ['keep', 'Keep the signature'],
  ])}
${choice({ ...shown('t_unit'), label: 'Unit of t' }, [
  ['', 'As set for the sandbox'],
  ['seconds', 'Seconds'],
  ['milliseconds', 'Milliseconds'],
])}
${field({ ...shown('t_offset_seconds'), label: 'Move t, in seconds', type: 'number', isSigned: true, hint: '-3600 is an hour ago.' })}
${check({ ...shown('bad_signature'), label: 'Sign with another key' })}`,
)}
${group(
  'time',
  'Copies, delay and order',
  isSet('lost', 'duplicate', 'late_ms', 'out_of_order', 'redirect_first', 'redirect_lead_ms'),
  html`${isSent ? '' : check({ ...shown('lost'), label: 'Send no callback' })}
${field({ ...shown('duplicate'), label: 'More copies', type: 'number', hint: '0 to 10. They stay genuine.' })}
${field({ ...shown('late_ms'), label: 'Delay, in milliseconds', type: 'number' })}
${check({ ...shown('out_of_order'), label: 'Hold it back until a later callback is through' })}
${check({ ...shown('redirect_first'), label: 'Send the customer back first' })}
${field({ ...shown('redirect_lead_ms'), label: 'Lead of the redirect, in milliseconds', type: 'number', hint: '2000 when empty.' })}`,
)}
${group(
  'fields',
  'Event, status and other fields',
  isSet('event', 'status', 'omit_fields', 'extra_fields'),
  html`${field({ ...shown('event'), label: 'Another event', hint: 'Such as transaction.reviewed.' })}
${field({ ...shown('status'), label: 'Another status', hint: 'Such as REVERSED.' })}
${field({ ...shown('omit_fields'), label: 'Fields to leave out', hint: 'Names, separated by commas.' })}
${area({ ...shown('extra_fields'), label: 'Fields to add or replace', hint: 'A JSON object.' })}`,
)}
${body ? group('body', 'Body', isSet('body'), area({ ...shown('body'), label: 'The body itself', hint: 'In place of all changes of fields and money. It need not be JSON.' })) : ''}`;
}
