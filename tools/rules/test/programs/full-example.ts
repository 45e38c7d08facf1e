import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from '@payment-service/sandbox';
import { withRunningProgram } from './running-program.ts';

const PASSWORD = 'correct horse battery';
const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
const FORGED_AMOUNT = 5_000_000;

/**
 * The problems of the complete example: starts it on a database, then orders and pays as a customer of the sandbox, after
 * forged callbacks for the same order.
 */
export async function fullExampleProblems(file: string, databaseUrl: string): Promise<readonly string[]> {
  const problems: string[] = [];
  const sandbox = createSandbox();
  const cwd = mkdtempSync(join(tmpdir(), 'full-example-')); // A folder for its spool.
  const environment = {
    DATABASE_URL: databaseUrl,
    SIGNING_KEY: sandbox.account.signingKey,
    ADMIN_PASSWORD: PASSWORD,
  };
  try {
    const { exitCode } = await withRunningProgram(
      file,
      environment,
      async ({ url, hasPrinted }) => {
        const text = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
          const response = await fetch(url + path, { headers });
          return `${response.status} ${await response.text()}`;
        };
        const { reference } = (await (await fetch(`${url}/orders`, { method: 'POST' })).json()) as {
          reference: string;
        };
        const order = `/orders/${encodeURIComponent(reference)}`;
        const paid = `/admin/payments/paid?reference=${encodeURIComponent(reference)}`;
        if (!(await text(order)).includes('Waiting')) problems.push('a new order is paid');
        if (!(await text('/healthz')).startsWith('200')) problems.push('it is not healthy');
        if (!(await text(paid)).startsWith('401')) problems.push('the console has no login');

        // The inbox puts an ambiguous callback aside, which the sandbox's check calls a warning.
        const { results } = await sandbox.check(`${url}/payments/callbacks`);
        const found = results.filter(({ verdict }) => verdict !== 'pass').map(({ name }) => name);
        if (found.join() !== 'moved_colon') problems.push(`the sandbox's check finds ${found}`);
        const { transaction } = sandbox.collect({
          ...{ merchant_reference: reference, amount: 500, currency: 'UGX' },
          ...{ provider_code: 'example_mobile_money', account: '256772000001' },
          ...{ callback_url: `${url}/payments/callbacks`, retry: { preset: 'none' } },
          misbehave: { lost: true },
        });
        const send = async (changes: Parameters<typeof sandbox.compose>[1]): Promise<number | null> => {
          const [delivery] = sandbox.compose(transaction.id, changes);
          await sandbox.idle();
          return sandbox.deliveries().find(({ id }) => id === delivery?.id)?.attempts[0]?.status ?? null;
        };
        const expectStatus = (what: string, status: number | null, right: number): void => {
          if (status !== right) problems.push(`${what} gets ${status}`);
        };
        expectStatus('a forged signature', await send({ bad_signature: true }), 401);
        expectStatus('a forged amount', await send({ forged_amount: FORGED_AMOUNT }), 200);
        const eventually = async (isTrue: () => Promise<boolean>): Promise<boolean> => {
          for (let tries = 1; tries <= 1000; tries += 1) {
            if (await isTrue()) return true;
            await new Promise((resolve) => setTimeout(resolve, 25));
          }
          return false;
        };
        const isPaid = async (): Promise<boolean> => (await text(order)).includes('Paid');
        // The worker has decided once the console says that an operator must.
        const isLeft = async (): Promise<boolean> =>
          (await text(paid, { authorization })).includes('a colleague must check it');
        if (!(await eventually(async () => (await isLeft()) || isPaid())))
          throw new Error('the console says nothing of a forged amount');
        if (await isPaid()) {
          problems.push('a forged amount pays the order');
          return;
        }
        expectStatus('the genuine callback', await send({}), 200);
        await hasPrinted(`${reference} is paid: 500 UGX`);
        // The handler prints this before its transaction is committed.
        if (!(await eventually(isPaid))) problems.push('the order is not paid');
        if (!(await text(paid, { authorization })).includes('Yes. The payment of UGX 500 has arrived'))
          problems.push('the console does not say that it is paid');
      },
      { cwd },
    );
    // Windows has no SIGTERM: there a process ends without notice.
    if (exitCode !== 0 && process.platform !== 'win32')
      problems.push(`it ended with ${exitCode} on SIGTERM, not with 0`);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  } finally {
    await sandbox.close();
    rmSync(cwd, { recursive: true, maxRetries: 20 });
  }
  return problems;
}
