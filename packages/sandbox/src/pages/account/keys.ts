import type { Context } from 'hono';
import { html } from 'hono/html';
import { copyable, copyButton } from '../parts/copy.ts';
import type { Dashboard } from '../parts/frame.ts';
import type { Markup } from '../parts/layout.ts';

/** The address and the three keys, which stay hidden until they are asked for: screens are shared. */
export function keysPanel(c: Context, { account }: Dashboard): Markup {
  const { origin } = new URL(c.req.url);
  const { publicKey, secretKey, signingKey } = account;
  const env = `BASE_URL=${origin}\nPUBLIC_KEY=${publicKey}\nSECRET_KEY=${secretKey}\nSIGNING_KEY=${signingKey}\n`;
  const keys = [
    ['public-key', 'Public key', publicKey],
    ['secret-key', 'Secret key', secretKey],
    ['signing-key', 'Signing key', signingKey],
  ] as const;
  return html`<section class="card" id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Connect your program</h2>
<dl class="facts"><dt>Address</dt><dd><code>${origin}</code></dd></dl>
<div><details id="keys-shown"><summary>Show the keys</summary>
<dl class="stack">${keys.map(
    ([id, label, key]) =>
      html`<div><dt class="quiet">${label}</dt><dd class="head key-value"><code id="${id}">${key}</code>${copyButton(id, 'Copy')}</dd></div>`,
  )}</dl></details>
${copyable('env', 'As .env', env)}</div></section>`;
}
