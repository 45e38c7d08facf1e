import { type Exchanged, exchange } from '../deliveries/delivery-attempt.ts';
import { explainExchange } from '../deliveries/outcome.ts';
import type { Context } from '../deliveries/unit-of-work.ts';
import { checkDestination } from '../state/hosts.ts';
import type { CheckReport, CheckResult } from '../state/records.ts';
import { refuse } from '../state/refusal.ts';
import { type CheckCase, type CheckMessage, checkCases, type Expected, messageOf } from './cases.ts';

const EXPECTED: Readonly<Record<Expected, string>> = {
  accept: '2xx',
  prefer: '2xx',
  either: '2xx, and no credit',
  refuse: '400, 401 or 403',
  aside: '400, 401 or 403',
};
const REFUSALS = [400, 401, 403, 413, 415, 422];
/** A server that refuses a long body may close the connection while the body is still being sent. */
const CLOSED = ['ECONNRESET', 'EPIPE'];
const MAX_MS = 5000;

/**
 * Posts the cases to an endpoint, one after another, each on its own connection and for at most 5 seconds. Only the report is
 * kept. Rejects if the sandbox is closed meanwhile.
 *
 * @throws {SandboxRefusal} for an address to which callbacks may not be sent, or if there is none.
 */
export async function checkEndpoint(url: string | null, context: Context): Promise<CheckReport> {
  if (url === null) {
    const message = 'callback_url: is required, because the sandbox has none.';
    refuse('destination_refused', message, 'callback_url');
  }
  checkDestination(url, context.allowedHosts);
  const attempts = { ...context, timeoutMs: Math.min(context.timeoutMs, MAX_MS) };
  const now = context.clock.now();
  let report: CheckReport = { url, ok: true, results: [] };
  for (const [index, one] of checkCases.entries()) {
    // The second case repeats the first one, under the same references.
    const number = `${now}${String(index === 1 ? 0 : index).padStart(2, '0')}`;
    const message = messageOf(one, { sign: context.sign, now }, number);
    const exchanged = await exchange({ ...message, url }, attempts);
    context.changes.ended.throwIfAborted();
    const result = resultOf(one, url, message, exchanged, context);
    report = { url, ok: report.ok && result.verdict !== 'fail', results: [...report.results, result] };
    // After every case, so that the page shows the progress.
    context.store.write((unit) => unit.put('check', 'check', { at: now, ...report }));
    if (index === 0 && exchanged.status === null) break;
  }
  return report;
}

function resultOf(
  one: CheckCase,
  url: string,
  { method, body }: CheckMessage,
  exchanged: Exchanged,
  { account: { signingKey }, clock }: Context,
): CheckResult {
  const { name, title, expected } = one;
  const { status, ms, error, headers } = exchanged;
  const verdict = verdictOf(one, exchanged);
  // A response that no case expects has its own explanation: a missing route, a crash, a login page.
  const request = { method, url, headers: headers ?? [], body };
  const outcome = explainExchange(request, exchanged, { signingKey, now: clock.now() });
  const isSilent = verdict === 'pass' && !(expected === 'either' && isAccepted(status));
  const isOdd = name === 'genuine' || !(isAccepted(status) || isRefusal(status));
  return {
    name,
    title,
    expected: one.answer ?? EXPECTED[expected],
    got:
      status === null ? `no answer: ${error}` : error === null ? String(status) : `${status}, then ${error}`,
    status,
    ms,
    verdict,
    fix: isSilent ? '' : isOdd && verdict !== 'pass' ? `${outcome.title} ${outcome.fix}` : one.fix,
  };
}

const isAccepted = (status: number | null): boolean => status !== null && status >= 200 && status < 300;
const isRefusal = (status: number | null): boolean => status !== null && REFUSALS.includes(status);

function verdictOf(
  { expected, refusals = [], mayBeClosed = false }: CheckCase,
  { status, error_code }: Exchanged,
): CheckResult['verdict'] {
  if (expected !== 'refuse' && expected !== 'aside') {
    if (isAccepted(status)) return 'pass';
    if (!isRefusal(status) || expected === 'accept') return 'fail';
    return expected === 'either' ? 'pass' : 'warn';
  }
  if (status === null) return mayBeClosed && CLOSED.includes(error_code ?? '') ? 'pass' : 'fail';
  if (isRefusal(status) || refusals.includes(status)) return 'pass';
  const isKept = expected === 'aside' && isAccepted(status);
  return isKept || (status >= 300 && status < 500) ? 'warn' : 'fail';
}
