import { hash } from 'node:crypto';
import { optionalText, textOf } from '../store/store.ts';
import type { OperatorContext } from './reports.ts';

/**
 * The member of an inbox that reads its version, for the console only. Registered, since the builds for `import` and for `require`
 * may both be loaded.
 */
const READ_VERSION = /* @__PURE__ */ Symbol.for('@payment-service/inbox/read-version/1');

/** Enumerable, so that a copy of the inbox with a member replaced has it too. */
export const withVersion = <I extends object>(inbox: I, read: () => Promise<string>): I =>
  Object.freeze(Object.assign(inbox, { [READ_VERSION]: read }));

/** Whether `createInbox()` has made it. */
export const isInbox = (inbox: unknown): boolean => typeof Object(inbox)[READ_VERSION] === 'function';

export const versionOf = async (inbox: object): Promise<string> => Object(inbox)[READ_VERSION]();

/**
 * Changes with each change of a payment or of a report, each new report and each act of an operator. Further bodies of a settled
 * report and another deadline do not change it: no index covers their times.
 */
export async function readVersion<Tx>({ statements, settings }: OperatorContext<Tx>): Promise<string> {
  const rows = await statements.run('newest_changes', [settings.account]);
  const newest = rows.map((row) => `${textOf(row, 'kind')} ${optionalText(row, 'newest')}`).sort();
  return hash('sha256', newest.join()).slice(0, 16);
}
