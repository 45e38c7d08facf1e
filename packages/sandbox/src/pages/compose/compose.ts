import {
  badge,
  bodyText,
  difference,
  editable,
  hiddenFields,
  html,
  type Markup,
  note,
  plainLines,
  withValues,
} from '@payment-service/pages';
import type { Context } from 'hono';
import { callbackData } from '../../deliveries/callback-data.ts';
import type { CallbackPreview } from '../../deliveries/composition.ts';
import { type Requests, read } from '../../service/request-schemas.ts';
import type { Service } from '../../service/service.ts';
import { SandboxRefusal } from '../../state/refusal.ts';
import { askAgain, form, idIn, nothing, type Page, refusedForm, sentence } from '../parts/page.ts';
import { misbehaviourOf, presets, retryChoices } from '../parts/presets.ts';
import { signatureParts } from '../parts/wire.ts';
import { SENDING } from '../records/deliveries.ts';
import { changeFields, changesIn, type FormValues, fieldsFrom, group } from './changes.ts';

const EDIT_BODY = 'edit_body';
/** The prefix of the path of a value that is edited in place. */
const VALUE = 'value.';
/** Longer bodies do not fit into the address of a preview. */
const MAX_EDITED = 4000;

/** The fields, with those of the chosen preset. */
function withPreset({ preset, at: _, edit: __, ...fields }: FormValues): FormValues {
  return { ...fields, ...fieldsFrom(misbehaviourOf(preset)) };
}

/** The values that were edited in place: those that differ from the body that the form showed. */
function editsIn({ base = '', ...fields }: FormValues): Map<string, string> {
  const shown = editable(base.replaceAll('\r\n', '\n'));
  const edits = [...shown].map(([path, value]) => [path, fields[VALUE + path] ?? value] as const);
  return new Map(edits.filter(([path, value]) => value !== shown.get(path)));
}

/**
 * The composition in a form: its changes, and then the values edited in place. Throws a SandboxRefusal that names the field.
 */
function compositionIn(service: Service, id: number, fields: FormValues): Requests['composition'] {
  const { callback_url = '', retry = '' } = fields;
  const asked = {
    ...changesIn(withPreset(fields)),
    ...(callback_url === '' ? {} : { callback_url }),
    ...(retry === '' ? {} : { retry: { preset: retry } }),
  };
  const composition = read('composition', asked);
  const edits = editsIn(fields);
  if (edits.size === 0) return composition;
  return read('composition', { ...asked, body: withValues(service.preview(id, composition).body, edits) });
}

/** The form, from its address, with what a preset adds. */
function typedIn(c: Context, body: string): FormValues {
  const typed = withPreset(c.req.query());
  return c.req.query('preset') === EDIT_BODY ? { ...typed, body: plainLines(body).join('\n') } : typed;
}

/** What would be sent, or why nothing would be. */
function previewOf(service: Service, id: number, typed: FormValues): CallbackPreview | SandboxRefusal {
  try {
    return service.preview(id, compositionIn(service, id, typed));
  } catch (error) {
    if (error instanceof SandboxRefusal) return error;
    throw error;
  }
}

/** The body with its values as controls. `base` shows which of them were edited when the form is sent. */
function bodyFields(base: string, edits: ReadonlyMap<string, string>, focus: string | undefined): Markup {
  const values = editable(base);
  if (base.length > MAX_EDITED || values.size === 0) return html``;
  return html`${hiddenFields({ base })}<div class="wide-field" data-live>${bodyText(base, {
    signed: true,
    value: (path) =>
      html`<input id="value-${path}" name="${VALUE}${path}" value="${edits.get(path) ?? values.get(path)}" aria-label="${path}" spellcheck="false" autocomplete="off"${path === focus ? html` autofocus` : ''}>`,
  })}</div>`;
}

const verdictOf = ({ verifies }: CallbackPreview): string =>
  `The signature will ${verifies ? 'verify' : 'be refused'}`;

function previewPart(service: Service, preview: CallbackPreview, before: string): Markup {
  const { url, body, verifies, refusal } = preview;
  return html`<div class="head">${badge(verifies ? 'good' : 'bad', verdictOf(preview))}</div>
${refusal === null ? '' : html`<p class="quiet">${refusal.hint}</p>`}
<dl class="facts"><dt>To</dt><dd><code>${url}</code></dd></dl>
${signatureParts(preview, service.clock.now(), service.account)}
<h3>Changes to the body</h3>${difference(before, body)}`;
}

/**
 * One callback with changes: a control for every change, and a preview of the callback.
 *
 * The Enter key presses the first button of a form: without a preset, that is the preview.
 */
export const compose: Page = {
  show(service, c, refused) {
    const id = Number(c.req.param('id'));
    const delivery = service.store.get('delivery', id);
    const transaction = service.store.get('transaction', delivery?.transactionId ?? id);
    if (transaction === undefined) return nothing(c, 'transaction or delivery');
    const before = delivery?.body ?? JSON.stringify(callbackData(transaction));
    const typed = refused?.typed ?? typedIn(c, before);
    const preview = previewOf(service, id, typed);
    const { base: _, ...changed } = typed;
    const shown = previewOf(service, id, changed);
    const base = shown instanceof SandboxRefusal ? before : shown.body;
    const isRefused = preview instanceof SandboxRefusal;
    const isWrong = isRefused && Object.keys(typed).length > 0;
    const asked = isWrong ? refusedForm('compose', typed, preview) : { form: 'compose', typed };
    const path = `/compose/${id}`;
    const isAnew = delivery === undefined;
    const section = isAnew ? '/transactions' : '/deliveries';
    const from = isAnew ? transaction.merchantReference : `Delivery ${id}`;
    return {
      title: 'Compose a callback',
      says: isRefused ? sentence(preview) : verdictOf(preview),
      section,
      crumbs: [
        [section, isAnew ? 'Transactions' : 'Deliveries'],
        [`${section}/${id}`, from],
      ],
      ...(isWrong && { status: preview.status }),
      body: html`<div class="split"><section class="card" aria-labelledby="changes-title"><h2 id="changes-title">What to change</h2>
<p class="quiet">Starts with ${isAnew ? 'the genuine callback of this transaction' : `what delivery ${id} sent`}.</p>
${form('compose', `compose/${id}`, refused ?? asked, {
  fields: (own) => html`${bodyFields(base, editsIn(typed), c.req.query('edit'))}
${own.choice({ name: 'preset', label: 'Preset', hint: 'Adds to what is set below.' }, [
  ['', 'None'],
  ...presets.filter(([name]) => name !== 'none' && name !== 'lost'),
  [EDIT_BODY, 'Edit the body'],
])}<div class="actions">${askAgain(path, 'Add the preset')}</div>
${changeFields(own, typed, ['lost'])}
${group(
  'where',
  'Address and retries',
  Boolean(typed['callback_url'] || typed['retry']),
  html`${own.field({ name: 'callback_url', label: 'Callback URL', type: 'url', hint: `Empty: ${isRefused ? 'the address from before' : preview.url}.` })}
${own.choice({ name: 'retry', label: 'Retries' }, [['', 'As before'], ...retryChoices])}`,
)}`,
  before: askAgain(`${path}#preview`, 'Preview'),
  button: 'Send',
  kind: 'main',
  after: html`<a class="button" href="${path}">Clear</a>`,
})}</section>
<section class="card follows" id="preview" aria-labelledby="preview-title"><h2 id="preview-title">What will be sent</h2>
${isRefused ? note('bad', 'Nothing: this cannot be composed.', sentence(preview)) : previewPart(service, preview, before)}</section></div>`,
    };
  },
  forms: {
    'compose/:id{[0-9]+}': (fields, service, c) => {
      const [first] = service.compose(idIn(c), compositionIn(service, idIn(c), fields));
      return first === undefined ? SENDING : { said: SENDING, to: `/deliveries/${first.id}` };
    },
  },
};
