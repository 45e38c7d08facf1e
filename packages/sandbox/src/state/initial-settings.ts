import type { SettingsRecord } from './records.ts';

/** The settings of a new sandbox, and of one that was reset. */
export const initialSettings: SettingsRecord = {
  clockOffset: 0,
  misbehave: {},
  retry: {},
  callback_url: null,
  redirect_url: null,
  order_url: null,
  inbox_url: null,
  api_latency_ms: 0,
  api_error: null,
};
