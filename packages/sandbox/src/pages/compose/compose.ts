import type { Context } from 'hono';
import { html } from 'hono/html';
import { callbackData } from '../../deliveries/callback-data.ts';
import type { CallbackPreview } from '../../deliveries/compose.ts';
import { SandboxRefusal } from '../../service/refusal.ts';
import { readComposition } from '../../service/requests.ts';
import { presets, retryChoices } from '../account/presets.ts';
import { difference } from '../parts/difference.ts';
import { askAgain, type Filled, fieldsOf, form, type Refused, sentence } from '../parts/form.ts';
import { type Dashboard, framed, notFound } from '../parts/frame.ts';
import { bodyText, plainLines } from '../parts/json.ts';
import type { Markup } from '../parts/layout.ts';
import { badge, note } from '../parts/state.ts';
import { signatureParts } from '../parts/wire.ts';
import { changeFields, changesIn, fieldsFrom, group } from './changes.ts';

type Texts = Readonly<Record<string, string>>;

const EDIT_BODY = 'edit_body';

/** The fields with those of the preset that is chosen. */
function withPreset({ preset, at: _, ...fields }: Texts): Texts {
  const chosen = presets.find(({ name }) => name === preset);
  return { ...fields, ...fieldsFrom(chosen?.misbehave ?? {}) };
}

/** What a form asks to send. Throws a SandboxRefusal that names the field. */
export function compositionIn(fields: Texts): ReturnType<typeof readComposition> {
  const { callback_url = '', retry = '' } = fields;
  return readComposition({
    ...changesIn(withPreset(fields)),
    ...(callback_url === '' ? {} : { callback_url }),
    ...(retry === '' ? {} : { retry: { preset: retry } }),
  });
}

/** The form as its address says, with what a preset adds. */
function typedIn(c: Context, body: string): Texts {
  const typed = withPreset(c.req.query());
  return c.req.query('preset') === EDIT_BODY ? { ...typed, body: plainLines(body).join('\n') } : typed;
}

/** What would be sent, or why it would not. */
function previewOf({ service }: Dashboard, id: number, typed: Texts): CallbackPreview | SandboxRefusal {
  try {
    return service.preview(id, compositionIn(typed));
  } catch (error) {
    if (error instanceof SandboxRefusal) return error;
    throw error;
  }
}

/**
 * One callback with changes: every change as a control, and what it makes of the callback before it is sent.
 *
 * The first button of a form is the one of the Enter key: without a preset it is a preview.
 */
export function composePage(c: Context, dashboard: Dashboard, refused?: Refused): Promise<Response> {
  const { service } = dashboard;
  const id = Number(c.req.param('id'));
  const delivery = service.store.get('delivery', id);
  const transaction = service.store.get('transaction', delivery?.transactionId ?? id);
  if (transaction === undefined) return notFound(c, dashboard, 'transaction or delivery');
  const before = delivery?.body ?? JSON.stringify(callbackData(transaction));
  const typed = refused?.typed ?? typedIn(c, before);
  const preview = previewOf(dashboard, id, typed);
  const isRefused = preview instanceof SandboxRefusal;
  const filled: Filled = refused ?? {
    form: 'compose',
    typed,
    ...(isRefused && Object.keys(typed).length > 0 ? { refusal: preview } : {}),
  };
  const fields = fieldsOf('compose', filled);
  const path = `/compose/${id}`;
  const from =
    delivery === undefined
      ? ([`/transactions/${id}`, transaction.merchantReference] as const)
      : ([`/deliveries/${id}`, `Delivery ${id}`] as const);
  return framed(c, dashboard, {
    title: 'Compose a callback',
    section: delivery === undefined ? '/transactions' : '/deliveries',
    crumbs: [
      delivery === undefined ? ['/transactions', 'Transactions'] : ['/deliveries', 'Deliveries'],
      from,
    ],
    status: filled.refusal?.status ?? 200,
    body: html`<div class="split"><section class="card" aria-labelledby="changes-title"><h2 id="changes-title">What to change</h2>
<p class="quiet">Starts with ${delivery === undefined ? 'the genuine callback of this transaction' : `what delivery ${id} sent`}.</p>
${form('compose', `compose/${id}`, {
  fields: html`${fields.choice({ name: 'preset', label: 'Preset', hint: 'Adds to what is set below.' }, [
    ['', 'None'],
    ...presets.filter(({ name }) => name !== 'none').map(({ name, label }) => [name, label] as const),
    [EDIT_BODY, 'Edit the body'],
  ])}<div class="actions">${askAgain(path, 'Add the preset')}</div>
${changeFields(fields, typed)}
${group(
  'where',
  'Address and retries',
  Boolean(typed['callback_url'] || typed['retry']),
  html`${fields.field({ name: 'callback_url', label: 'Callback URL', type: 'url', hint: `Empty: ${isRefused ? 'the address from before' : preview.url}.` })}
${fields.choice({ name: 'retry', label: 'Retries' }, [['', 'As before'], ...retryChoices])}`,
)}
${fields.problem()}`,
  before: askAgain(`${path}#preview`, 'Preview'),
  button: 'Send',
  kind: 'main',
  after: html`<a class="button" href="${path}">Clear</a>`,
})}</section>
<section class="card follows" id="preview" aria-labelledby="preview-title"><h2 id="preview-title">What will be sent</h2>
${isRefused ? note('bad', 'Nothing: this cannot be composed.', sentence(preview)) : previewPart(dashboard, preview, before)}</section></div>`,
  });
}

function previewPart({ service, account }: Dashboard, preview: CallbackPreview, before: string): Markup {
  const { url, body, verifies, refusal } = preview;
  return html`<div class="head">${verifies ? badge('good', 'The signature will verify') : badge('bad', 'The signature will be refused')}</div>
${refusal === null ? '' : html`<p class="quiet">${refusal.hint}</p>`}
<dl class="facts"><dt>To</dt><dd><code>${url}</code></dd></dl>
${signatureParts(preview, service.now(), account)}
<h3>Body</h3>${
    body === before
      ? html`<p class="quiet">The body is unchanged.</p>${bodyText(body, { signed: true })}`
      : html`<p class="quiet">The difference is marked.</p>${difference(before, body)}<details id="whole-body"><summary>The whole body</summary>${bodyText(body, { signed: true })}</details>`
  }`;
}
