import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CANARY, newObservedShop, type ObservedShop } from './observed-shop.ts';

const CHANNELS = ['callback', 'redirect', 'attempt', 'client-call'].flatMap((what) =>
  ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map(
    (event) => `tracing:payment-service:${what}:${event}`,
  ),
);
const EVENTS = 'payment-service:inbox';

interface Told {
  readonly messages: () => string;
  readonly logs: () => string;
}

/** Everything that the channels and the console emit during a test. */
function listen(): Told {
  const messages: string[] = [];
  for (const name of [...CHANNELS, EVENTS]) {
    const hear = (message: unknown): number =>
      messages.push(name, inspect(message, { depth: 9 }), JSON.stringify(message));
    subscribe(name, hear);
    onTestFinished(() => void unsubscribe(name, hear));
  }
  const logs: unknown[] = [];
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    const spy = vi.spyOn(console, method).mockImplementation((...given) => void logs.push(...given));
    onTestFinished(() => spy.mockRestore());
  }
  return { messages: () => messages.join('\n'), logs: () => inspect(logs, { depth: 9 }) };
}

/** Where each secret was found. */
async function leaks({ collector, metricsUrl, flush }: ObservedShop, told: Told): Promise<string[]> {
  await flush();
  const sent = (kind: string): string =>
    collector.requests.flatMap(({ path, body }) => (path.endsWith(kind) ? [body] : [])).join('\n');
  const page = await (await fetch(metricsUrl)).text();
  const places = {
    ...{ traces: sent('traces'), metrics: sent('metrics'), page },
    ...{ messages: told.messages(), logs: told.logs() },
  };
  for (const [place, text] of Object.entries(places)) {
    if (place !== 'logs') expect(text.length, place).toBeGreaterThan(500);
  }
  return Object.entries(CANARY).flatMap(([secret, value]) =>
    Object.entries(places).flatMap(([place, text]) =>
      text.includes(value) ? [`${secret} in ${place}`] : [],
    ),
  );
}

test('threat A58: no key, phone number, name or reference is in any message, span, metric or log', async () => {
  const told = listen();
  const shop = await newObservedShop();
  await shop.live();
  expect(await leaks(shop, told)).toEqual([]);
  for (const what of ['callback', 'redirect', 'attempt', 'client-call'])
    expect(told.messages()).toContain(`tracing:payment-service:${what}:asyncEnd`);
});

test('threat A58: control: a leak is found wherever it is planted', async () => {
  const told = listen();
  const shop = await newObservedShop();
  await shop.live();
  shop.tracer.startSpan('leak', { attributes: { customer: CANARY.name } }).end();
  shop.meters.getMeter('leak').createCounter('leak').add(1, { account: CANARY.phone });
  channel(EVENTS).publish({ key: CANARY.secretKey });
  console.warn(new Error(CANARY.reference));
  expect((await leaks(shop, told)).sort()).toEqual([
    'name in traces',
    'phone in metrics',
    'phone in page',
    'reference in logs',
    'secretKey in messages',
  ]);
});

test('threat A58: the labels of metrics are of closed sets, whatever callers send', async () => {
  const shop = await newObservedShop();
  const series = async (): Promise<number> =>
    (await (await fetch(shop.metricsUrl)).text()).split('\n').filter((line) => !line.startsWith('#')).length;
  await shop.live();
  const before = await series();
  for (let index = 0; index < 20; index += 1) {
    await shop.post(`${CANARY.reference}-${index}`, {
      customer_name: `${index}`,
      transaction_amount: 100 + index,
    });
    await shop.post(`${CANARY.reference}-${index}`, { internal_reference: `${index}` });
  }
  expect(await series()).toBe(before);
});
