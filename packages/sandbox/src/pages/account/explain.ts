import { type Explanation, explain } from '@payment-service/core/explain';
import { html, type Markup, note } from '@payment-service/pages';
import { parseRequest } from '../../http/recorded-request.ts';
import type { Service } from '../../service/service.ts';
import { refuse, SandboxRefusal } from '../../state/refusal.ts';
import type { FormValues } from '../compose/changes.ts';
import { form, type Page, refusedForm } from '../parts/page.ts';

/** Why a pasted request is refused. Throws a SandboxRefusal that says what to paste. */
function explanationOf(service: Service, fields: FormValues): Explanation {
  const { publicKey, secretKey, signingKey } = service.account;
  const { tolerance } = fields;
  const toleranceSeconds = tolerance === undefined ? undefined : Number(tolerance);
  if (toleranceSeconds !== undefined && !(toleranceSeconds > 0 && Number.isFinite(toleranceSeconds))) {
    refuse('malformed_request', 'tolerance: must be a number of seconds above zero', 'tolerance');
  }
  const options = { toleranceSeconds, colonIn: service.colonIn, now: service.clock.now };
  return explain(requestIn(fields), { publicKey, secretKey, signingKey }, options);
}

function requestIn(fields: FormValues): Parameters<typeof explain>[0] {
  // Forms are sent with CRLF line breaks.
  const [request, body] = [fields['request'], fields['body']].map((text) => text?.replaceAll('\r\n', '\n'));
  const { signature } = fields;
  const own = signature === undefined ? [] : [['hmac-signature', signature] as const];
  if (request !== undefined) {
    const parsed = parseRequest(new TextEncoder().encode(request), body);
    return own.length === 0 ? parsed : { ...parsed, headers: own };
  }
  if (body === undefined) {
    const missing =
      signature === undefined
        ? 'Paste the request that was refused, or its signature and body.'
        : 'Paste the body that the signature came with.';
    refuse('malformed_request', missing, signature === undefined ? 'request' : 'body');
  }
  return { headers: own, body };
}

function answerTo(service: Service, fields: FormValues): Explanation | SandboxRefusal {
  try {
    return explanationOf(service, fields);
  } catch (refusal) {
    if (refusal instanceof SandboxRefusal) return refusal;
    throw refusal;
  }
}

const explained = ({ ok, title, detail, fix }: Explanation): Markup =>
  html`<section id="explanation" aria-label="Explanation">${note(
    ok ? 'good' : 'bad',
    title,
    html`<span class="quiet">${detail}</span>`,
    html`<strong>What to do:</strong> ${fix}`,
  )}</section>`;

/** Why a callback was refused, from the request as it was recorded. */
export const explainPage: Page = {
  section: 'Explain',
  isAsked: true,
  show(service, _, asked) {
    const answer = asked && answerTo(service, asked.typed);
    const isRefused = answer instanceof SandboxRefusal;
    const filled = isRefused ? refusedForm('explain', asked?.typed ?? {}, answer) : asked;
    return {
      title: 'Explain a refused callback',
      isOnce: true,
      ...(isRefused && { status: answer.status, said: 'Not explained: something is missing or wrong.' }),
      ...(answer !== undefined && !isRefused && { said: 'Explained: the reason is above.' }),
      body: html`${answer === undefined || isRefused ? '' : explained(answer)}
<section class="card" aria-labelledby="explain-title"><h2 id="explain-title">Why was it refused?</h2>
<p class="quiet">Checked with the keys of this sandbox. What you paste is not stored.</p>
${form('explain', '/explain', filled, {
  fields: ({ area, field }) => html`${area({
    name: 'request',
    label: 'Request',
    rows: 10,
    hint: 'As HTTP text with its headers and body, as a curl command, as JSON with headers and body, or what curl -v printed.',
  })}
<p class="wide-field quiet">Or its parts, which replace those of the request:</p>
${field({ name: 'signature', label: 'hmac-signature', hint: 'Such as t=1767312000,s=…' })}
${field({ name: 'tolerance', label: "Your verifier's toleranceSeconds", type: 'number', hint: 'Empty: not set.' })}
${area({ name: 'body', label: 'Body', rows: 5, hint: 'Unchanged, as it arrived. curl -v does not print it.' })}`,
  button: 'Explain',
  kind: 'main',
})}</section>`,
    };
  },
};
