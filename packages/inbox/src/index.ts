export type { ActionNote } from './action-note.ts';
export { aesGcm } from './aes-gcm.ts';
export type { BodyEncryption } from './body-content.ts';
export { createInbox } from './create-inbox.ts';
export type { InboxEvent } from './events.ts';
export type { AnyInbox, Inbox } from './inbox.ts';
export type { ActName } from './operator/action-log.ts';
export type { InboxHealth } from './operator/health.ts';
export type { InboxHistory } from './operator/history.ts';
export type { Act } from './operator/offers.ts';
export type { Payment } from './operator/payment.ts';
export type { PaymentSummary } from './operator/payment-summary.ts';
export type { PaymentCounts, PaymentFilter, PaymentPage } from './operator/payments.ts';
export type { TransitionDetails, TransitionSummary } from './operator/views.ts';
export type { InboxOptions } from './options.ts';
export type { InboxProblem } from './problems.ts';
export type { BalanceOptions, BalanceReport } from './reconciliation/balances.ts';
export { readStatement } from './reconciliation/read-statement.ts';
export type {
  StatementFinding,
  StatementOptions,
  StatementReport,
  StatementRow,
} from './reconciliation/statement.ts';
export type { StatementFormat } from './reconciliation/statement-format.ts';
export type { TransitionReason, TransitionState } from './states.ts';
export type { PostgresClient } from './store/postgres/connection.ts';
export { postgres } from './store/postgres/postgres.ts';
export { type SqliteTransaction, sqlite } from './store/sqlite/sqlite.ts';
export type { Store } from './store/store.ts';
export type { Handled, HandlerName } from './work/attempt/handlers.ts';
export type { Drained } from './work/drain.ts';
export type { Settled } from './work/verdict/evaluate.ts';
export type { Expectation } from './work/verdict/expectation.ts';
export type { PaymentState } from './work/verdict/payment-state.ts';
