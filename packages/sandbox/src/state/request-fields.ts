import * as z from 'zod';

/** Fields that several requests share. */
export const shortText: z.ZodString = z.string().max(128);
export const text: z.ZodString = shortText.min(1);
export const address: z.ZodString = z.string().max(2048);
/** Whole milliseconds, at most 7 days. */
export const milliseconds: z.ZodInt = z.int().min(0).max(604_800_000);

/** What a value must be, where nothing else is said of its field. */
export function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type')
    return `must be ${/^[aio]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
  if (issue.code === 'invalid_value') return `must be ${issue.values.join(' or ')}`;
  return issue.code === 'unrecognized_keys' ? 'this field is unknown' : issue.message;
}
