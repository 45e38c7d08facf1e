export type { ActionNote } from './action-note.ts';
export { createInbox } from './create-inbox.ts';
export { type AesGcmKeys, aesGcm } from './delivery/aes-gcm.ts';
export type { BodyEncryption } from './delivery/stored-delivery.ts';
export type { Inbox } from './inbox.ts';
export type { ActedOnAll, ActSelection } from './operator/acts/act.ts';
export type { ActName, OperatorAction } from './operator/acts/action-log.ts';
export type { ActGiven } from './operator/acts/effects.ts';
export type { Forgotten } from './operator/acts/forget.ts';
export type { Act } from './operator/acts/offers.ts';
export type { HealthProblem, InboxHealth } from './operator/health.ts';
export type { DayTotal, InboxHistory, OpenPayment } from './operator/history.ts';
export type { Advice } from './operator/payments/advice.ts';
export type {
  PaymentCounts,
  PaymentFilter,
  PaymentPage,
  Payments,
} from './operator/payments/list-payments.ts';
export type { ExpectedPayment, PaymentSummary } from './operator/payments/payment-summary.ts';
export type { Payment } from './operator/payments/read-payment.ts';
export type { Pruned, PruneOptions } from './operator/prune.ts';
export type {
  FailedAttempt,
  KeptBody,
  TransitionDetails,
  TransitionSummary,
} from './operator/reports.ts';
export type { ListOptions } from './operator/search.ts';
export type { InboxOptions, RetrySettings } from './options.ts';
export type { DecimalMark } from './reconciliation/amount-text.ts';
export type { BalanceOptions, BalanceReport, Period, SettledTotal } from './reconciliation/balance-report.ts';
export type { Encoding } from './reconciliation/encodings.ts';
export type { Separator } from './reconciliation/file-records.ts';
export type { Pairs } from './reconciliation/name-value-pairs.ts';
export { type OpenedStatement, readStatement } from './reconciliation/read-statement.ts';
export type { StatementFormat } from './reconciliation/statement-format.ts';
export type {
  LineClass,
  StatementFinding,
  StatementLine,
  StatementMeaning,
  StatementOptions,
  StatementReport,
  StatementRow,
  StatementSum,
} from './reconciliation/statement-report.ts';
export type { InboxEvent } from './reporting/events.ts';
export type { InboxProblem } from './reporting/problems.ts';
export type { StatementVerdict, StatusMeaning, TransitionReason, TransitionState } from './states.ts';
export type { PostgresClient, PostgresPool } from './store/postgres/connection.ts';
export { postgres } from './store/postgres/postgres.ts';
export type { Migration } from './store/schema.ts';
export { type SqliteTransaction, sqlite } from './store/sqlite/sqlite.ts';
export type { SqliteResult, SqliteValue, SqliteValues } from './store/sqlite/sqlite-thread.ts';
export type { Call, Row, SqlValue, Statement, Store } from './store/store.ts';
export type {
  Claims,
  Comparison,
  ExpectedMoney,
  ReplacedMoney,
  Settled,
  StoredClaim,
} from './verdict/evaluate.ts';
export type { Expectation, Replacement } from './verdict/expectation.ts';
export type { PaymentState } from './verdict/payment-state.ts';
export type { PaymentKey } from './verdict/restate.ts';
export type { Handled, HandledPayment, HandlerName, HandlerOptions } from './work/attempt/handlers.ts';
export type { Drained, DrainOptions } from './work/drain.ts';
export type { WorkerOptions } from './work/worker.ts';
