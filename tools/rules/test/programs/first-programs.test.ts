/** What the compiler says to the programs that a user writes first, and to their likely mistakes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute } from '@payment-service/release/toolchains';
import { expect, test } from 'vitest';
import { emptyFolder, tsc } from '../../src/extracted.ts';
import { root } from '../../src/repository.ts';

const INBOX = `import { createInbox, postgres, sqlite, type AnyInbox } from '@payment-service/inbox';
import pg from 'pg';
const inbox = createInbox({ store: sqlite('shop.db') });
const pool = new pg.Pool();
`;

/** By its name, a program: each of its lines is a program of its own after the first ones, so that a mistake has its own messages. */
const PROGRAMS: Readonly<Record<string, readonly [begin: string, ...lines: readonly string[]]>> = {
  handlers: [
    INBOX,
    `inbox.handle('paid', async ({ tx, payment: { merchant_reference, settled } }) => { await tx.query('update orders set paid = ? where reference = ?', [settled.amount, merchant_reference]); });`,
    `inbox.handle('Paid', () => undefined);`,
    `inbox.handle('FAILED', () => undefined);`,
    `inbox.handle({ status: 'FAILED' }, () => undefined);`,
    `inbox.handle('failed', ({ payment }) => payment.settled.amount);`,
    `inbox.handle('status', ({ signed, payment }) => { if (signed.transaction_status === 'REVERSED') console.log(payment.settled?.amount); });`,
  ],
  'any-inbox': [
    `${INBOX}async function late(any: AnyInbox): Promise<number> { return (await any.counts()).overdue; }\n`,
    `console.log(await late(inbox), await late(createInbox({ store: postgres(pool) })));`,
    `createInbox({ store: Math.random() > 0.5 ? postgres(pool) : sqlite('shop.db') });`,
    `function handlers(any: AnyInbox) { any.handle('paid', () => undefined); }`,
  ],
  errors: [
    `import type { AnyPaymentServiceError } from '@payment-service/core/client';\n`,
    `export function code(error: AnyPaymentServiceError) { switch (error.code) { case 'api_error': return error.status; case 'invalid_configuration': return error.option; case 'invalid_input': return error.field; case 'unavailable': return error.retryAfterSeconds; default: return error.message; } }`,
    `export function code(error: AnyPaymentServiceError) { if (error.code === 'timeout') return error.status; }`,
    `export function code(error: AnyPaymentServiceError) { if (error.code === 'time_out') return 0; }`,
  ],
  pages: [
    INBOX,
    `for await (const { merchant_reference, needs } of inbox.payments({ needed: true })) console.log(merchant_reference, needs);`,
    `const { items, next } = await inbox.payments({ state: ['held', 'overdue'] }); console.log(items.length, next);`,
    `inbox.payments({ states: ['held'] });`,
    `inbox.payments({ state: 'settled' });`,
    `for await (const report of inbox.reports()) console.log(report);`,
  ],
  'is-it-paid': [
    INBOX,
    `const payment = await inbox.payment('ORD-1'); if (payment?.state === 'paid') console.log(payment.settled?.amount);`,
    `const payment = await inbox.payment('ORD-1'); if (payment.state === 'paid') console.log('paid');`,
    `if (inbox.payment('ORD-1')) console.log('paid');`,
  ],
  acts: [
    `${INBOX}const note = { by: 'dana', note: 'the service says that 300 was paid' };\nconst payment = await inbox.payment('ORD-1');\n`,
    `const accept = payment?.acts.find(({ name }) => name === 'accept'); if (accept) await inbox.act(accept, note);`,
    `await inbox.act('accept', note);`,
    `await inbox.act(payment?.acts[0], note);`,
    `const [act] = payment?.acts ?? []; if (act) await inbox.act(act, { by: 'dana' });`,
    `await inbox.actAll('accept', { reason: 'amount_mismatch', until: new Date() }, note);`,
    `await inbox.actAll('retry', { reason: 'attempts_used_up' }, note);`,
  ],
  client: [
    `import { createClient, type ClientOptions } from '@payment-service/core/client';\nconst keys = { baseUrl: process.env.URL, publicKey: process.env.PUBLIC_KEY };\n`,
    `const wallets = await createClient({ ...keys, secretKey: process.env.SECRET_KEY }).getWalletBalances({ currency: undefined }); console.log(wallets);`,
    `await createClient(keys).getWalletBalances();`,
    `createClient({ ...keys, timeoutMS: 500 });`,
    `await createClient(keys).listPayoutBanks();`,
  ],
  fetch: [
    `import { assertAmount, paymentCallbacks, type CallbackOptions } from '@payment-service/fetch';\nimport { createInbox, sqlite } from '@payment-service/inbox';\nconst inbox = createInbox({ store: sqlite('shop.db') });\nconst signingKey = process.env.SIGNING_KEY;\nconst request = new Request('http://127.0.0.1');\n`,
    `await paymentCallbacks({ signingKey, ...inbox.route })(request);`,
    `await paymentCallbacks({ signingKey, onCallback: (callback) => console.log(assertAmount(callback, { currency: 'UGX', amount: '500' }).amount) })(request);`,
    `await paymentCallbacks({ signingKey })(request);`,
    `paymentCallbacks({ signingKey, onCallback: inbox.receive });`,
    `paymentCallbacks({ onCallback: console.log });`,
  ],
  lifetime: [
    `${INBOX}import { deliver } from '@payment-service/core/testing';\nimport { createSandbox } from '@payment-service/sandbox';\n`,
    `await using own = createInbox({ store: sqlite('test.db') }); await using sandbox = createSandbox(); console.log(own, sandbox);`,
    `const { signal } = new AbortController(); await inbox.work(); await inbox.drain({ signal }); await inbox.health({ signal });`,
    `const { state } = await deliver(inbox, { merchant_reference: 'ORD-1', amount: 500 }); console.log(state);`,
    `await deliver(inbox, { merchant_reference: 'ORD-1', amount: '500' });`,
    `await deliver(createSandbox(), { merchant_reference: 'ORD-1', amount: 500 });`,
    `await inbox.drain({ timeoutMs: 500 });`,
  ],
};

test('the compiler accepts the first programs of a user, and says what is wrong with each likely mistake', async () => {
  const folder = emptyFolder('first-programs');
  const written = Object.entries(PROGRAMS).flatMap(([name, [begin, ...lines]]) =>
    lines.map((line, at) => ({ file: `${name}-${at + 1}.ts`, line, text: `${begin}${line}\nexport {};\n` })),
  );
  for (const { file, text } of written) writeFileSync(join(folder, file), text);
  const tsconfig = {
    extends: '../../../../tsconfig.base.json',
    compilerOptions: {
      moduleDetection: 'force',
      noPropertyAccessFromIndexSignature: false,
      isolatedDeclarations: false,
      declaration: false,
    },
    files: written.map(({ file }) => file),
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  const args = [tsc, '-p', folder, '--pretty', 'false'];
  const { output } = await execute({ command: process.execPath, args, cwd: folder });
  const found = written.map(({ file, line }) => {
    const own = output.split(/\n(?=\S)/).filter((message) => message.startsWith(`${file}(`));
    const says = own.map((message) => message.replace(/^.*?: error (TS\d+): /, '  $1: ').trimEnd());
    return [line, ...(says.length === 0 ? ['  compiles'] : says)].join('\n');
  });
  const report = found.join('\n\n').replaceAll(`${root.replaceAll('\\', '/')}/`, '');
  await expect(`${report}\n`).toMatchFileSnapshot('first-programs.txt');
});
