import { ConfigurationError } from '@payment-service/core';
import {
  countOverdue,
  countStates,
  type FigureContext,
  type HealthProblem,
  type InboxHealth,
  oldestDueSeconds,
  overdueExpectations,
} from './figures.ts';
import type { Inbox } from './inbox.ts';
import { pruneBodies } from './prune.ts';
import { fromHex } from './session.ts';
import type { Settings } from './settings.ts';
import type { Spool } from './spool.ts';
import type { StoreEngine } from './store.ts';
import { TRANSITION_STATES } from './transition-state.ts';
import { listTransitions, showTransition } from './transition-views.ts';
import { within } from './within.ts';

const DAY_MS = 86_400_000;

export interface InspectionOptions<Tx> {
  readonly engine: StoreEngine<Tx>;
  readonly settings: Settings;
  readonly ready: () => Promise<void>;
  readonly spool: Spool | undefined;
}

/** What people and monitors look at, and what a schedule tidies. */
export function inspection<Tx>({
  engine,
  settings,
  ready,
  spool,
}: InspectionOptions<Tx>): Pick<Inbox<Tx>, 'stats' | 'health' | 'list' | 'show' | 'overdue' | 'prune'> {
  const { account } = settings;
  const figures = async (session = engine.session): Promise<FigureContext> => {
    await ready();
    return { session, tables: engine.tables, account, now: settings.now() };
  };
  return {
    async stats() {
      const context = await figures();
      return {
        states: await countStates(context),
        oldestDueSeconds: await oldestDueSeconds(context),
        overdue: await countOverdue(context),
        spooled: (await spool?.count()) ?? 0,
      };
    },

    async health({ maxPendingAgeSeconds = 60 } = {}): Promise<InboxHealth> {
      checkNumber('maxPendingAgeSeconds', maxPendingAgeSeconds, 1, 10 ** 9);
      const problems: HealthProblem[] = [];
      const answer = <T>(promise: Promise<T>): Promise<T | undefined> =>
        within(settings.storeTimeoutMs, promise).catch(() => undefined);
      const spooled = spool === undefined ? 0 : await answer(spool.count());
      if (spooled === undefined) problems.push('spool_unavailable');
      else if (spooled > 0) problems.push('spool_not_drained');
      const oldest = await answer(figures(engine.briefSession).then((context) => oldestDueSeconds(context)));
      if (oldest === undefined) problems.push('store_unavailable');
      else if (oldest > maxPendingAgeSeconds) problems.push('oldest_due_too_old');
      return { ok: problems.length === 0, problems, oldestDueSeconds: oldest, spooled };
    },

    async list({ state, limit = 50, after, merchant_reference, internal_reference } = {}) {
      if (state !== undefined && !TRANSITION_STATES.includes(state)) {
        throw new ConfigurationError('state', `state must be one of ${TRANSITION_STATES.join(', ')}.`);
      }
      checkNumber('limit', limit, 1, 1000);
      checkReference('merchant_reference', merchant_reference);
      checkReference('internal_reference', internal_reference);
      await ready();
      const { session, tables } = engine;
      return listTransitions(session, tables, account, {
        state,
        limit,
        after: after === undefined ? undefined : transitionKey(after),
        merchantReference: merchant_reference,
        internalReference: internal_reference,
      });
    },

    async show(transitionId) {
      const id = transitionKey(transitionId);
      await ready();
      return showTransition(engine.session, engine.tables, account, id);
    },

    async overdue({ limit = 1000 } = {}) {
      checkNumber('limit', limit, 1, 100_000);
      return overdueExpectations(await figures(), limit);
    },

    async prune({ bodiesOlderThanDays = 90 } = {}) {
      checkNumber('bodiesOlderThanDays', bodiesOlderThanDays, 1, 100_000);
      engine.checkCaller();
      await ready();
      return { bodies: await pruneBodies(engine, account, settings.now() - bodiesOlderThanDays * DAY_MS) };
    },
  };
}

/** @throws {ConfigurationError} when it is no id of a transition. */
export function transitionKey(transitionId: unknown): Uint8Array {
  if (typeof transitionId !== 'string' || !/^[0-9a-f]{64}$/.test(transitionId)) {
    throw new ConfigurationError('transitionId', 'A transitionId is 64 lower-case hexadecimal digits.');
  }
  return fromHex(transitionId);
}

function checkReference(option: string, value: unknown): void {
  if (value === undefined || typeof value === 'string') return;
  throw new ConfigurationError(option, `${option} must be a text, or be left out.`);
}

function checkNumber(option: string, value: unknown, least: number, most: number): void {
  if (typeof value === 'number' && value >= least && value <= most) return;
  throw new ConfigurationError(option, `${option} must be a number from ${least} to ${most}.`);
}
