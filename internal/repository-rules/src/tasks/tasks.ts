/** The path of one account's callbacks, and the variable with its signing key. */
export interface TaskAccount {
  readonly path: string;
  readonly key: string;
}

/** A program to write from the documents alone. */
export interface Task {
  readonly name: string;
  /** The specific part of the task; COMMON applies to every task. */
  readonly text: string;
  /** @default one account at /payments/callbacks, with SIGNING_KEY */
  readonly accounts?: readonly TaskAccount[];
  /** The program has a page at /payments/return that shows PAID or WAITING. */
  readonly hasRedirect?: true;
}

const PATH = '/payments/callbacks';
export const ACCOUNT: TaskAccount = { path: PATH, key: 'SIGNING_KEY' };

/** The common part of all tasks. The judge relies on each of its sentences. */
export const COMMON: string = `Write server.mjs, a program for Node 24, from the documents in this folder alone. Every package that they name will be installed.

- It listens on 127.0.0.1, on the port that the variable PORT names, and ends on SIGTERM.
- orders.json beside it is a list of { merchant_reference, currency, amount }: the orders that customers were asked to pay.
- Unless the task says otherwise, the payment service POSTs its callbacks to ${PATH}, signed with the key in SIGNING_KEY.
- GET /credits answers with a JSON list of { merchant_reference, currency, amount }: one for each order that was paid, with the
  amount to credit as a string. A payment appears there at most three seconds after its callback was answered.
- Everything that needs no operator is done by the program; no payment is credited that the documents say an operator must look at.

`;

export const TASKS: readonly Task[] = [
  { name: 'express', text: 'Use Express 5.' },
  { name: 'fastify', text: 'Use Fastify 5.' },
  { name: 'koa', text: 'Use Koa 3.' },
  { name: 'hono', text: 'Use Hono with @hono/node-server.' },
  { name: 'no-framework', text: 'Use node:http and no framework.' },
  {
    name: 'body-parser',
    text: 'Use Express 5. The app has app.use(express.json()) before all routes, and this line must stay first.',
  },
  {
    name: 'redirect',
    text: 'Use any framework. The browser of the customer comes back to GET /payments/return. Answer with status 200 and the word PAID if the order of that redirect was paid, otherwise with the word WAITING; a forged redirect gets 401.',
    hasRedirect: true,
  },
  {
    name: 'rotation',
    text: 'Use any framework. The signing key is being changed: SIGNING_KEY is the new one, and the service may sign with OLD_SIGNING_KEY for another hour.',
    accounts: [ACCOUNT, { path: PATH, key: 'OLD_SIGNING_KEY' }],
  },
  {
    name: 'accounts',
    text: `Use any framework. There are two merchant accounts: callbacks to ${PATH}/uganda are signed with UGANDA_SIGNING_KEY, those to ${PATH}/kenya with KENYA_SIGNING_KEY.`,
    accounts: [
      { path: `${PATH}/uganda`, key: 'UGANDA_SIGNING_KEY' },
      { path: `${PATH}/kenya`, key: 'KENYA_SIGNING_KEY' },
    ],
  },
  {
    name: 'inbox',
    text: 'Use any framework and @payment-service/inbox with SQLite in shop.db. GET /credits reads a table that the handler writes.',
  },
];
