import { copyable, copyButton, type Markup } from '@payment-service/pages';
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Dashboard } from './dashboard.ts';

/** The address and the three keys, on every page. They stay hidden until they are asked for: screens are shared. */
export function keysPanel(c: Context, { account }: Dashboard): Markup {
  const { origin } = new URL(c.req.url);
  const { publicKey, secretKey, signingKey } = account;
  const env = `BASE_URL=${origin}\nPUBLIC_KEY=${publicKey}\nSECRET_KEY=${secretKey}\nSIGNING_KEY=${signingKey}\n`;
  const values = [
    ['address', 'Address', origin],
    ['public-key', 'Public key', publicKey],
    ['secret-key', 'Secret key', secretKey],
    ['signing-key', 'Signing key', signingKey],
  ] as const;
  return html`<details class="keys" id="keys"><summary>Keys</summary>
<dl class="facts">${values.map(
    ([id, label, value]) =>
      html`<dt>${label}</dt><dd class="head"><code id="${id}">${value}</code>${copyButton(id, html`Copy<span class="hidden-text"> ${label.toLowerCase()}</span>`)}</dd>`,
  )}</dl>
${copyable('env', 'All as .env', env)}</details>`;
}
