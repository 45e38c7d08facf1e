import { html, tableOf } from '@payment-service/pages';
import { consolePage, type View } from './page.ts';
import { moneyText } from './summary.ts';

/** What was credited on each day, exact. */
export async function moneyPage(view: View): Promise<Response> {
  const { settled } = await view.inbox.history({ days: 31 });
  const cells = ['Day', 'Type', 'Credited | number', 'Payments | number'];
  return consolePage(view, {
    title: 'Money',
    section: '/money',
    body: html`<p class="quiet">What was credited on each of the last 31 days, in UTC, by your own amounts.</p>
${
  settled.length === 0
    ? html`<p>Nothing was credited in these days.</p>`
    : tableOf('days', cells, settled.toReversed(), ({ day, transaction_type, count, ...money }) => [
        day.toISOString().slice(0, 10),
        transaction_type,
        moneyText(money),
        String(count),
      ])
}`,
  });
}
