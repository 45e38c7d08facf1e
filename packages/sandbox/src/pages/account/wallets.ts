import type { Wallet } from '@payment-service/core/client';
import {
  age,
  type Column,
  column,
  count,
  counted,
  type Filled,
  fieldsOf,
  list,
  type Markup,
  time,
} from '@payment-service/pages';
import { html } from 'hono/html';
import { entriesOf, waitingEntries } from '../../service/ledger.ts';
import { read } from '../../service/requests.ts';
import type { Service } from '../../service/service.ts';
import { type Minor, toAmount } from '../../state/money.ts';
import type { EntryRecord, TransferRecord } from '../../state/records.ts';
import { button, form } from '../parts/form.ts';
import { nothing } from '../parts/frame.ts';
import { paged, readQuery } from '../parts/list.ts';
import type { Page } from '../parts/page.ts';
import {
  ageColumn,
  amount,
  buckets,
  causes,
  money,
  movement,
  wallets as walletNames,
} from '../parts/values.ts';

const LATEST = 5;
const MAX_SHOWN = 25;

const balance = (
  label: string,
  name: `${'available' | 'uncleared' | 'reserve' | 'actual'}_balance`,
): Column<Wallet & { id: string }> => ({
  label,
  isNumber: true,
  cell: (wallet) => amount(wallet[name], wallet.currency),
});

/** A sum from left to right. */
const walletColumns: readonly Column<Wallet & { id: string }>[] = [
  column(
    'Wallet',
    'title wide',
    ({ wallet_type }) =>
      html`<strong>${wallet_type === 'MERCHANT_PAYOUT' ? 'Payouts' : 'Collections'}</strong> <span class="quiet small">${wallet_type}</span>`,
  ),
  balance('Available', 'available_balance'),
  balance('+ Uncleared', 'uncleared_balance'),
  balance('+ Reserve', 'reserve_balance'),
  balance('= Actual', 'actual_balance'),
];

const about = ({ transactionId, cause }: EntryRecord): Markup | string =>
  transactionId === null
    ? causes[cause]
    : html`<a href="/transactions/${transactionId}">${causes[cause]}<span class="hidden-text"> ${transactionId}</span></a>`;

/** An entry, and what its part of the wallet held after it. */
type Balanced = EntryRecord & { readonly balance: Minor };

/** The entries of a currency, the newest first. */
function balancedEntries(service: Service, currency: string): Balanced[] {
  const sums = new Map<string, Minor>();
  return entriesOf(service.store, currency)
    .map((entry) => {
      const part = entry.walletType + entry.bucket;
      const balance = (sums.get(part) ?? 0) + entry.amount;
      sums.set(part, balance);
      return { ...entry, balance };
    })
    .reverse();
}

const entryColumns = (now: number): readonly Column<Balanced>[] => [
  column(
    'Amount',
    'title number',
    (one) => html`<strong>${movement(toAmount(one.amount, one.currency), one.currency)}</strong>`,
  ),
  column('Why', 'title wide', about),
  column('Balance', 'number', (one) => money(one.balance, one.currency)),
  column('of', 'title', ({ walletType, bucket }) => `${walletNames[walletType]}, ${buckets[bucket]}`),
  ageColumn(({ at }) => at, now),
];

const waitingColumns = (now: number): readonly Column<EntryRecord>[] => [
  column('Amount', 'title number', (one) => html`<strong>${money(one.amount, one.currency)}</strong>`),
  column('Where', 'title', ({ bucket }) => buckets[bucket]),
  column('Becomes available', 'title wide', ({ freeAt }) =>
    freeAt === null ? '' : html`${age(freeAt, now)} <span class="quiet small">${time(freeAt)}</span>`,
  ),
  column('From', '', about),
];

/** The parts that are not free yet, the next one first. */
function waitingOf(service: Service, currency: string): EntryRecord[] {
  return waitingEntries(service.store)
    .filter((entry) => entry.currency === currency)
    .sort((a, b) => (a.freeAt ?? 0) - (b.freeAt ?? 0));
}

function currencyCard(service: Service, currency: string, refused: Filled | undefined): Markup {
  const now = service.clock.now();
  const own = service.wallets(currency).map((one) => ({ ...one, id: one.wallet_type }));
  const waiting = waitingOf(service, currency);
  const entries = balancedEntries(service, currency);
  const at = `card-${currency}`;
  const move = (id: 'deposit' | 'transfer', title: string, hint: string): Markup => {
    const fields = fieldsOf(`${id}-${currency}`, refused);
    return form(`${id}-${currency}`, `${id}s`, {
      fields: html`<input type="hidden" name="currency" value="${currency}">${fields.field({ name: 'amount', label: `${title}, in ${currency}`, type: 'number', value: '1000', hint })}${fields.problem()}`,
      button: html`${title}<span class="hidden-text"> ${currency}</span>`,
    });
  };
  const isOpen = refused?.form.endsWith(`-${currency}`) ?? false;
  return html`<section class="card" id="${at}" aria-labelledby="${at}-title"><div class="head"><h2 id="${at}-title">${currency}</h2>
<div class="actions"><a class="button" href="/wallets/${currency}">${currency} ${counted(entries.length, 'entry', 'entries')}</a></div></div>
${list(`wallets-${currency}`, walletColumns, own)}
${
  waiting.length === 0
    ? ''
    : html`<div class="head"><h3>Not available yet</h3><div class="actions">${(
        ['uncleared', 'reserve'] as const
      )
        .filter((bucket) => waiting.some((entry) => entry.bucket === bucket))
        .map((bucket) =>
          button(
            'clearing',
            bucket === 'uncleared' ? 'Clear uncleared money now' : 'Release the reserve now',
            {
              at,
              name: 'bucket',
              value: `${bucket} ${currency}`,
            },
          ),
        )}</div></div>
${list(`waiting-${currency}`, waitingColumns(now), waiting.slice(0, LATEST))}
${waiting.length > LATEST ? html`<p class="quiet small">${count(waiting.length - LATEST)} more become available later.</p>` : ''}`
}
${entries.length === 0 ? '' : html`<details id="latest-${currency}"><summary>Latest entries</summary>${list(`latest-entries-${currency}`, entryColumns(now), entries.slice(0, LATEST))}</details>`}
<details id="move-${currency}"${isOpen ? html` open` : ''}><summary>Deposit or transfer</summary><div class="split">${move('deposit', 'Deposit', 'Into the collection wallet, without a transaction.')}${move('transfer', 'Transfer', 'From the collection wallet to the payout wallet.')}</div></details></section>`;
}

/** The currencies of the account, each as one card, and the transfers between the wallets. */
export const wallets: Page = {
  section: 'Wallets',
  show(service, c, refused) {
    const now = service.clock.now();
    const currencies = [...new Set(service.wallets().map(({ currency }) => currency))];
    const { rows, pager } = paged(readQuery(c), service.store.list('transfer').reverse());
    const transferColumns: readonly Column<TransferRecord>[] = [
      column('Transfer', 'title', ({ id }) => html`<strong>${id}</strong>`),
      column('Amount', 'number', (one) => money(one.amount, one.currency)),
      column('Age', 'number', ({ createdAt }) => age(createdAt, now)),
    ];
    return {
      title: 'Wallets',
      body: html`<p class="quiet">The actual balance is always the sum of available, uncleared and reserve.</p>
${currencies.map((currency) => currencyCard(service, currency, refused))}
<section class="stack" id="transfers-part" aria-labelledby="transfers-title"><h2 id="transfers-title">Transfers to the payout wallet</h2>
${rows.length === 0 ? html`<p class="quiet">None yet.</p>` : list('transfers', transferColumns, rows)}${pager}</section>`,
    };
  },
  forms: {
    transfers: ({ currency, amount }, service) => {
      service.transfer(read('transfer', { currency, amount: Number(amount) }));
      return 'Transferred.';
    },
    deposits: ({ currency, amount }, service) => {
      service.deposit(read('transfer', { currency, amount: Number(amount) }));
      return 'Deposited.';
    },
  },
  buttons: {
    clearing: ({ bucket = '' }, service) => {
      const [name, currency] = bucket.split(' ');
      const found = service.clear(read('clearing', { buckets: [name], currency }));
      return `${counted(found, 'part')} became available.`;
    },
  },
};

/** Every change of the balances of one currency, the newest first. */
export const currencyWallets: Page = {
  show(service, c) {
    const currency = c.req.param('currency') ?? '';
    const own = service.wallets(currency).map((one) => ({ ...one, id: one.wallet_type }));
    if (own.length === 0) return nothing(c, 'wallet');
    const now = service.clock.now();
    const waiting = waitingOf(service, currency);
    const { rows, pager } = paged(readQuery(c), balancedEntries(service, currency));
    return {
      title: `${currency} wallets`,
      body: html`${list(`wallets-${currency}`, walletColumns, own)}
<section class="stack" aria-labelledby="entries-title"><h2 id="entries-title">Entries</h2>
${rows.length === 0 ? html`<p class="quiet">None yet.</p>` : list('entries', entryColumns(now), rows)}${pager}</section>
${
  waiting.length === 0
    ? ''
    : html`<details class="card" id="waiting-part"><summary>${counted(waiting.length, 'part')} not available yet</summary>${list('waiting', waitingColumns(now), waiting.slice(0, MAX_SHOWN))}
${waiting.length > MAX_SHOWN ? html`<p class="quiet small">${count(waiting.length - MAX_SHOWN)} more become available later.</p>` : ''}</details>`
}`,
    };
  },
};
