import type { Wallet } from '@payment-service/core/client';
import {
  age,
  type Column,
  capital,
  column,
  count,
  counted,
  type Filled,
  html,
  list,
  type Markup,
  time,
} from '@payment-service/pages';
import { entriesOf, waitingEntries } from '../../service/ledger.ts';
import type { Service } from '../../service/service.ts';
import { type Minor, toAmount } from '../../state/money.ts';
import type { EntryRecord, TransferRecord } from '../../state/records.ts';
import { amount, buckets, causes, money, movement, wallets as walletNames } from '../parts/cells.ts';
import { balanceCharts } from '../parts/charts.ts';
import { pageOf, readQuery } from '../parts/list.ts';
import { form, nothing, type Page } from '../parts/page.ts';

const LATEST = 5;
const MAX_SHOWN = 25;

/** A sum from left to right. */
const walletColumns: readonly Column<Wallet>[] = [
  column(
    'Wallet',
    ['title', 'wide'],
    ({ wallet_type }) =>
      html`<strong>${wallet_type === 'MERCHANT_PAYOUT' ? 'Payouts' : 'Collections'}</strong> <span class="quiet small">${wallet_type}</span>`,
  ),
  column('Available', ['number'], (one) => amount(one.available_balance, one.currency)),
  column('+ Uncleared', ['number'], (one) => amount(one.uncleared_balance, one.currency)),
  column('+ Reserve', ['number'], (one) => amount(one.reserve_balance, one.currency)),
  column('= Actual', ['number'], (one) => amount(one.actual_balance, one.currency)),
];

const about = ({ transactionId, cause }: EntryRecord): Markup | string =>
  transactionId === null
    ? causes[cause]
    : html`<a href="/transactions/${transactionId}">${causes[cause]}<span class="hidden-text"> ${transactionId}</span></a>`;

/** An entry, and the balance after it. */
type Balanced = EntryRecord & { readonly balance: Minor };

/** The entries of a currency, newest first. */
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

const entryColumns = (now: number): Column<Balanced>[] => [
  column(
    'Amount',
    ['title', 'number'],
    (one) => html`<strong>${movement(toAmount(one.amount, one.currency), one.currency)}</strong>`,
  ),
  column('Why', ['title', 'wide'], about),
  column('Where', ['title'], ({ walletType, bucket }) =>
    capital(`${walletNames[walletType]}, ${buckets[bucket]}`),
  ),
  column('Balance', ['number'], (one) => money(one.balance, one.currency)),
  column('Age', ['title', 'number'], ({ at }) => age(at, now)),
];

const waitingColumns = (now: number): Column<EntryRecord>[] => [
  column('Amount', ['title', 'number'], (one) => html`<strong>${money(one.amount, one.currency)}</strong>`),
  column('Where', ['title'], ({ bucket }) => capital(buckets[bucket])),
  column('Becomes available', ['title', 'wide'], ({ freeAt }) =>
    freeAt === null ? '' : html`${age(freeAt, now)} <span class="quiet small">${time(freeAt)}</span>`,
  ),
  column('From', [], about),
];

/** The parts that become available next, and the number of others. */
const waitingList = (name: string, waiting: readonly EntryRecord[], max: number, now: number): Markup =>
  html`${list(name, waitingColumns(now), waiting.slice(0, max))}
${waiting.length > max ? html`<p class="quiet small">${count(waiting.length - max)} more become available later.</p>` : ''}`;

const walletList = (service: Service, currency: string): Markup =>
  list(
    `wallets-${currency}`,
    walletColumns,
    service.wallets(currency).map((one) => ({ ...one, id: one.wallet_type })),
  );

/** What is known of a currency, beside the balances of its wallets over time. */
function withCharts(service: Service, currency: string, rest: Markup): Markup {
  const entries = entriesOf(service.store, currency);
  if (entries.length === 0) return rest;
  return html`<div class="charted"><div class="charts">${balanceCharts(entries, currency)}</div><div class="stack">${rest}</div></div>`;
}

/** The parts that are not yet available, the next one first. */
function waitingOf(service: Service, currency: string): EntryRecord[] {
  return waitingEntries(service.store)
    .filter((entry) => entry.currency === currency)
    .sort((a, b) => (a.freeAt ?? 0) - (b.freeAt ?? 0));
}

function currencyCard(service: Service, currency: string, refused: Filled | undefined): Markup {
  const now = service.clock.now();
  const waiting = waitingOf(service, currency);
  const entries = balancedEntries(service, currency);
  const at = `card-${currency}`;
  const move = (id: 'deposit' | 'transfer', title: string, hint: string): Markup => {
    const label = `${title}, in ${currency}`;
    return form(`${id}-${currency}`, `${id}s`, refused, {
      hidden: { currency },
      fields: ({ field }) => field({ name: 'amount', label, type: 'number', value: '1000', hint }),
      button: html`${title}<span class="hidden-text"> ${currency}</span>`,
    });
  };
  const isOpen = refused?.form.endsWith(`-${currency}`) ?? false;
  return html`<section class="card" id="${at}" aria-labelledby="${at}-title"><div class="head"><h2 id="${at}-title">${currency}</h2>
<div class="actions"><a class="button" href="/wallets/${currency}">${currency} entries: ${count(entries.length)}</a></div></div>
${withCharts(
  service,
  currency,
  html`${walletList(service, currency)}
${
  waiting.length > 0 &&
  html`<h3>Not available yet</h3>
${waitingList(`waiting-${currency}`, waiting, LATEST, now)}`
}
${entries.length === 0 ? '' : html`<details id="latest-${currency}"><summary>Latest entries</summary>${list(`latest-entries-${currency}`, entryColumns(now), entries.slice(0, LATEST))}</details>`}
<details id="move-${currency}"${isOpen ? html` open` : ''}><summary>Deposit or transfer</summary><div class="split">${move('deposit', 'Deposit', 'Into the collection wallet, without a transaction.')}${move('transfer', 'Transfer', 'From the collection wallet to the payout wallet.')}</div></details>`,
)}</section>`;
}

/** The currencies of the account, each as one card, and the transfers between the wallets. */
export const wallets: Page = {
  section: 'Wallets',
  show(service, c, refused) {
    const now = service.clock.now();
    const currencies = [...new Set(service.wallets().map(({ currency }) => currency))];
    const { rows, pager } = pageOf(readQuery(c), service.store.list('transfer').reverse());
    const transferColumns: Column<TransferRecord>[] = [
      column('Transfer', ['title'], ({ id }) => html`<strong>${id}</strong>`),
      column('Amount', ['number'], (one) => money(one.amount, one.currency)),
      column('Age', ['number'], ({ createdAt }) => age(createdAt, now)),
    ];
    return {
      title: 'Wallets',
      body: html`<p class="quiet">The actual balance is always the sum of available, uncleared and reserve.</p>
${currencies.map((currency) => currencyCard(service, currency, refused))}
<section class="stack" id="transfers-part" aria-labelledby="transfers-title"><h2 id="transfers-title">Transfers to the payout wallet</h2>
${rows.length === 0 ? html`<p class="quiet">No transfer yet. Start one under “Deposit or transfer” for a currency.</p>` : list('transfers', transferColumns, rows)}${pager}</section>`,
    };
  },
  forms: {
    transfers: ({ currency, amount }, service) => {
      service.transfer({ currency, amount: Number(amount) });
      return 'Transferred.';
    },
    deposits: ({ currency, amount }, service) => {
      service.deposit({ currency, amount: Number(amount) });
      return 'Deposited.';
    },
  },
};

/** Every change of the balances of one currency, newest first. */
export const currencyWallets: Page = {
  show(service, c) {
    const currency = c.req.param('currency') ?? '';
    if (service.wallets(currency).length === 0) return nothing(c, 'wallet');
    const now = service.clock.now();
    const waiting = waitingOf(service, currency);
    const { rows, pager } = pageOf(readQuery(c), balancedEntries(service, currency));
    return {
      title: `${currency} wallets`,
      body: html`<h2 class="hidden-text">Balances</h2>${withCharts(
        service,
        currency,
        html`${walletList(service, currency)}
<section class="stack" aria-labelledby="entries-title"><h2 id="entries-title">Entries</h2>
${rows.length === 0 ? html`<p class="quiet">No entry yet. <a href="/start">Start a transaction</a>, or <a href="/wallets#card-${currency}">deposit money</a>.</p>` : list('entries', entryColumns(now), rows)}${pager}</section>
${waiting.length > 0 && html`<details class="card" id="waiting-part"><summary>${counted(waiting.length, 'part')} not available yet</summary>${waitingList('waiting', waiting, MAX_SHOWN, now)}</details>`}`,
      )}`,
    };
  },
};
