import * as z from 'zod';
import { withoutUndefined } from './json-values.ts';
import { milliseconds } from './request-fields.ts';

/** How often, and after which responses, a callback is resent. Simulated: the service's rule is not shown. */
export interface RetryRules {
  /** The number of attempts, including the first one. 1 to 50. */
  readonly max_attempts: number;
  /** Milliseconds before the second attempt. */
  readonly backoff_ms: number;
  /** The factor by which each further wait grows. */
  readonly backoff_factor: number;
  /** The longest wait, in milliseconds. */
  readonly max_backoff_ms: number;
  /** The statuses that count as delivered: exact ones, or classes such as "2xx". */
  readonly accepted: readonly (number | string)[];
  /** The statuses after which it is resent. Unless the list is empty, it is also resent if there was no complete response. */
  readonly repeated: readonly (number | string)[];
  /** Whether each attempt is signed with a new `t`. False repeats the first `t` (threat A28). */
  readonly resign: boolean;
}

/**
 * A common rule for the responses after which a sender repeats a callback: `none` never repeats, `not-2xx` is anything but 2xx,
 * `5xx-and-429` only these, `below-500` anything but 2xx that is below 500.
 */
export type RetryPreset = 'none' | 'not-2xx' | '5xx-and-429' | 'below-500';

/** Some of the rules. Those of `preset` come first; any other given rule overrides them. */
export type RetrySettings = { readonly [Rule in keyof RetryRules]?: RetryRules[Rule] | undefined } & {
  readonly preset?: RetryPreset | undefined;
};

const preset = (label: string, ...repeated: RetryRules['repeated']) => ({
  label,
  rules: { accepted: ['2xx'], repeated },
});

/** The responses of each preset, and its label on the pages. */
export const retryPresets: Readonly<
  Record<RetryPreset, { readonly label: string; readonly rules: Pick<RetryRules, 'accepted' | 'repeated'> }>
> = {
  none: preset('Never'),
  'not-2xx': preset('After any answer but 2xx', '1xx', '2xx', '3xx', '4xx', '5xx'),
  '5xx-and-429': preset('After 5xx and 429 only', '5xx', 429),
  'below-500': preset('After answers below 500 only, such as 429', '1xx', '2xx', '3xx', '4xx'),
};

export const defaultRetry: RetryRules = {
  max_attempts: 5,
  backoff_ms: 1000,
  backoff_factor: 2,
  max_backoff_ms: 60_000,
  ...retryPresets['not-2xx'].rules,
  resign: false,
};

const statuses = z.array(z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]xx$/)]));

/** The retry rules in a request, with its preset resolved. */
export const retryRules: z.ZodType<Partial<RetryRules>> = z
  .strictObject({
    preset: z.enum(['none', 'not-2xx', '5xx-and-429', 'below-500']).optional(),
    max_attempts: z.int().min(1).max(50).optional(),
    backoff_ms: milliseconds.optional(),
    backoff_factor: z.number().min(1).max(10).optional(),
    max_backoff_ms: milliseconds.optional(),
    accepted: statuses.optional(),
    repeated: statuses.optional(),
    resign: z.boolean().optional(),
  })
  .transform(({ preset, ...rules }) => ({
    ...(preset && retryPresets[preset].rules),
    ...withoutUndefined(rules),
  }));

/** Whether a list includes a status. */
export function namesStatus(list: readonly (number | string)[], status: number): boolean {
  return list.includes(status) || list.includes(`${Math.floor(status / 100)}xx`);
}

/** The wait after this many failed attempts, in milliseconds. */
export function backoff(rules: RetryRules, attempts: number): number {
  return Math.min(rules.backoff_ms * rules.backoff_factor ** (attempts - 1), rules.max_backoff_ms);
}
