import type { TransactionCallback } from '@payment-service/core';
import * as z from 'zod';
import { withoutUndefined } from '../state/json-values.ts';
import type { ComposedChanges, Misbehaviour } from '../state/misbehaviour.ts';
import type { Signing } from '../state/records.ts';
import { address, milliseconds, shortText } from '../state/request-fields.ts';
import { retryRules } from '../state/retries.ts';
import { forgedMoney } from './callback-data.ts';

/** The content of a callback, which may be a changed one with anything in it. */
export interface CallbackContent {
  readonly event?: unknown;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** When a callback is sent, and its labels. */
export interface Timing {
  /** Milliseconds before the first attempt. */
  readonly wait: number;
  readonly isLost: boolean;
  /** Copies after the first one. */
  readonly more: number;
  /** Waits until the callback of a later transaction has been sent. */
  readonly isHeld: boolean;
  readonly words: readonly string[];
}

type Choices = readonly (readonly [value: string, text: string])[];
/** @param genuine What the service would send. */
type ContentChange = (
  data: CallbackContent,
  changes: Misbehaviour,
  genuine: TransactionCallback,
) => CallbackContent;

/** One misbehaviour: its values in requests, its control in forms, its label and its effect. */
export interface Declared {
  readonly schema: z.ZodType;
  readonly group: Group;
  /** Its control in a form. */
  readonly control: 'flag' | 'number' | 'text' | 'area' | 'names' | 'json' | 'choice';
  readonly label: string;
  readonly hint?: string;
  /** Whether negative numbers are allowed. */
  readonly isSigned?: boolean;
  readonly choices?: Choices;
  /** What its value must be; replaces the validator's message. */
  readonly problem?: string;
  /** The value that the command gives a name without one. @default true */
  readonly sample?: unknown;
  /** The label of a callback with it; `''` for none. */
  readonly words?: (changes: Misbehaviour) => string;
  /** Replaces the body. */
  readonly body?: (changes: Misbehaviour) => string;
  readonly content?: ContentChange;
  /** The fields to leave out, after all other changes. */
  readonly omitted?: (changes: Misbehaviour) => readonly string[];
  readonly signing?: (signing: Signing, changes: Misbehaviour) => Signing;
  readonly timing?: (timing: Timing, changes: Misbehaviour, isRedirected: boolean) => Timing;
}

/** The groups of the form, in their order. */
export const groups = {
  money: 'Money, which is not signed',
  signature: 'Signature, key and t',
  time: 'Copies, delay and order',
  fields: 'Event, status and other fields',
  body: 'Body',
} as const;

type Group = keyof typeof groups;
const flag = (group: Group, label: string) =>
  ({ group, label, control: 'flag', schema: z.boolean() }) as const;
const number = <T extends z.ZodType>(group: Group, label: string, schema: T, problem: string) =>
  ({ group, label, control: 'number', schema, problem }) as const;
const choice = <T extends z.ZodType>(group: Group, label: string, schema: T, choices: Choices) =>
  ({ group, label, control: 'choice', schema, choices }) as const;
const typed = <T extends z.ZodType>(group: Group, label: string, schema: T, problem: string) =>
  ({ group, label, control: 'text', schema, problem }) as const;

const REDIRECT_LEAD_MS = 2000;
const tenYears = z.int().min(-315_360_000).max(315_360_000);
const capitals = z.string().regex(/^[A-Z]{3}$/);
const AT_MOST_10_YEARS = 'must be a whole number of seconds, at most 10 years back or ahead';
const AT_MOST_7_DAYS = 'must be a whole number of milliseconds, at most 7 days';
const AT_MOST_128 = 'must be a string of at most 128 characters';

const declared = {
  forged_amount: {
    ...number('money', 'Another amount', z.number(), 'must be a number, such as 1'),
    hint: 'The total stays consistent.',
    sample: 1,
    words: () => 'forged amount',
    content: withPayload(forgedMoney),
  },
  forged_currency: {
    ...typed('money', 'Another currency', capitals, 'must be three capital letters, such as USD'),
    hint: 'Three capital letters.',
    sample: 'USD',
    words: () => 'forged currency',
    content: withPayload(forgedMoney),
  },
  signature: {
    ...choice('signature', 'Changed fields', z.enum(['anew', 'keep']), [
      ['', 'Sign anew'],
      ['keep', 'Keep the signature'],
    ]),
    words: (changes) =>
      changes.signature === 'keep' && Object.keys(changes).length > 1 ? 'signature kept' : '',
  },
  t_unit: {
    ...choice('signature', 'Unit of t', z.enum(['seconds', 'milliseconds']), [
      ['', 'As set for the sandbox'],
      ['seconds', 'Seconds'],
      ['milliseconds', 'Milliseconds'],
    ]),
    sample: 'milliseconds',
    words: ({ t_unit }) => `t in ${t_unit}`,
    signing: (signing, { t_unit = null }) => ({ ...signing, unit: t_unit }),
  },
  t_offset_seconds: {
    ...number('signature', 'Move t, in seconds', tenYears, AT_MOST_10_YEARS),
    hint: '-3600 is an hour ago.',
    isSigned: true,
    sample: -3600,
    words: ({ t_offset_seconds }) => `t ${t_offset_seconds} seconds off`,
    signing: (signing, { t_offset_seconds = 0 }) => ({ ...signing, offsetSeconds: t_offset_seconds }),
  },
  bad_signature: {
    ...flag('signature', 'Sign with another key'),
    words: () => 'bad signature',
    signing: (signing, { bad_signature }) => ({ ...signing, key: bad_signature ? 'other' : 'account' }),
  },
  lost: {
    ...flag('time', 'Send no callback'),
    words: () => 'no callback',
    timing: (timing, { lost }) => (lost ? { ...timing, isLost: true } : timing),
  },
  duplicate: {
    ...number('time', 'More copies', z.int().min(0).max(10), 'must be a whole number from 0 to 10'),
    hint: '0 to 10. They stay genuine.',
    sample: 1,
    words: ({ duplicate }) => (duplicate ? `sent ${duplicate} times more` : ''),
    timing: (timing, { duplicate = 0 }) => ({ ...timing, more: duplicate }),
  },
  late_ms: {
    ...number('time', 'Delay, in milliseconds', milliseconds, AT_MOST_7_DAYS),
    sample: 2000,
    words: ({ late_ms }) => (late_ms ? `${late_ms.toLocaleString('en')} ms late` : ''),
    timing: (timing, { late_ms }) =>
      late_ms ? { ...timing, wait: timing.wait + late_ms, words: [...timing.words, 'late'] } : timing,
  },
  out_of_order: {
    ...flag('time', 'Hold it back until a later callback has been sent'),
    words: () => 'out of order',
    timing: (timing, { out_of_order = false }) => ({ ...timing, isHeld: out_of_order }),
  },
  redirect_first: {
    ...flag('time', 'Send the customer back first'),
    words: () => 'after the redirect',
    timing: (timing, { redirect_first, redirect_lead_ms = REDIRECT_LEAD_MS }, isRedirected) =>
      redirect_first && isRedirected
        ? { ...timing, wait: timing.wait + redirect_lead_ms, words: [...timing.words, 'after the redirect'] }
        : timing,
  },
  redirect_lead_ms: {
    ...number('time', 'Lead of the redirect, in milliseconds', milliseconds, AT_MOST_7_DAYS),
    hint: `${REDIRECT_LEAD_MS} when empty.`,
  },
  event: {
    ...typed('fields', 'Another event', shortText, AT_MOST_128),
    hint: 'Such as transaction.reviewed.',
    words: ({ event }) => `event ${event}`,
    content: ({ payload }, { event }) => ({ event, payload }),
  },
  status: {
    ...typed('fields', 'Another status', shortText, AT_MOST_128),
    hint: 'Such as REVERSED.',
    words: ({ status }) => `status ${status}`,
    content: withPayload(({ status }) => ({ transaction_status: status })),
  },
  omit_fields: {
    ...typed('fields', 'Fields to leave out', z.array(shortText), 'must be names of at most 128 characters'),
    control: 'names',
    hint: 'Names, separated by commas.',
    words: ({ omit_fields }) => `without ${omit_fields?.join(', ')}`,
    omitted: ({ omit_fields = [] }) => omit_fields,
  },
  extra_fields: {
    ...typed('fields', 'Fields to add or replace', z.record(shortText, z.unknown()), 'must be a JSON object'),
    control: 'json',
    hint: 'A JSON object.',
    words: ({ extra_fields = {} }) => `with ${Object.keys(extra_fields).join(', ')}`,
    content: withPayload(({ extra_fields = {} }) => extra_fields),
  },
  body: {
    ...typed('body', 'The body itself', z.string().max(65_536), 'must be at most 65,536 characters'),
    control: 'area',
    hint: 'Replaces all changes to fields and money. It need not be JSON.',
    words: () => 'edited body',
    // A lone surrogate would be sent as U+FFFD, and the record would differ from it.
    body: ({ body = '' }) => body.toWellFormed(),
  },
} as const satisfies Readonly<Record<keyof Misbehaviour, Declared>>;

function withPayload(fields: (changes: Misbehaviour, genuine: TransactionCallback) => object): ContentChange {
  return ({ event, payload }, changes, genuine) => ({
    event,
    payload: { ...payload, ...fields(changes, genuine) },
  });
}

/** Every misbehaviour by its name, in the order of the forms. */
export const misbehaviours: ReadonlyMap<string, Declared> = new Map(Object.entries(declared));

type Names = keyof typeof declared;
type Shape = { [K in Names]: z.ZodOptional<(typeof declared)[K]['schema']> };
const optional = Object.entries(declared).map(([name, { schema }]) => [name, schema.optional()]);
const misbehaviour = z.strictObject(Object.fromEntries(optional) as Shape);

/** The values in requests and settings. */
export const misbehaviourSchema: z.ZodType<Misbehaviour> = misbehaviour.transform(withoutUndefined);

/** The values in a composition. */
export const compositionSchema: z.ZodType<ComposedChanges> = misbehaviour
  .omit({ lost: true })
  .extend({ callback_url: address.optional(), retry: retryRules.optional() })
  .transform(withoutUndefined);

/** The misbehaviours that are given. */
export function misbehavioursIn(changes: Misbehaviour): Declared[] {
  const given = new Map<string, unknown>(Object.entries(changes));
  return [...misbehaviours].flatMap(([name, one]) => (given.get(name) === undefined ? [] : one));
}

/** Their labels; none for those that are switched off. */
export function wordsOf(changes: Misbehaviour, isMeant: (one: Declared) => boolean = () => true): string[] {
  const on = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== false));
  return misbehavioursIn(on).flatMap((one) => (isMeant(one) && one.words?.(changes)) || []);
}
