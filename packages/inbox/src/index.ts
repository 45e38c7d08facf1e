export type { ActionNote } from './action-note.ts';
export { createInbox } from './create-inbox.ts';
export { aesGcm } from './delivery/aes-gcm.ts';
export type { BodyEncryption } from './delivery/stored-delivery.ts';
export type { AnyInbox, Inbox } from './inbox.ts';
export type { ActName } from './operator/acts/action-log.ts';
export type { Act } from './operator/acts/offers.ts';
export type { InboxHealth } from './operator/health.ts';
export type { InboxHistory } from './operator/history.ts';
export type { PaymentCounts, PaymentFilter, PaymentPage } from './operator/payments/list-payments.ts';
export type { PaymentSummary } from './operator/payments/payment-summary.ts';
export type { Payment } from './operator/payments/read-payment.ts';
export type { TransitionDetails, TransitionSummary } from './operator/reports.ts';
export type { InboxOptions } from './options.ts';
export type { BalanceOptions, BalanceReport } from './reconciliation/balance-report.ts';
export { readStatement } from './reconciliation/reading/read-statement.ts';
export type { StatementFormat } from './reconciliation/reading/statement-format.ts';
export type {
  StatementFinding,
  StatementOptions,
  StatementReport,
  StatementRow,
} from './reconciliation/statement-report.ts';
export type { InboxEvent } from './reporting/events.ts';
export type { InboxProblem } from './reporting/problems.ts';
export type { TransitionReason, TransitionState } from './states.ts';
export type { PostgresClient } from './store/postgres/connection.ts';
export { postgres } from './store/postgres/postgres.ts';
export { type SqliteTransaction, sqlite } from './store/sqlite/sqlite.ts';
export type { Store } from './store/store.ts';
export type { Settled } from './verdict/evaluate.ts';
export type { Expectation } from './verdict/expectation.ts';
export type { PaymentState } from './verdict/payment-state.ts';
export type { Handled, HandlerName } from './work/attempt/handlers.ts';
export type { Drained } from './work/drain.ts';
