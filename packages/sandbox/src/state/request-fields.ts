import * as z from 'zod';

/** Fields that several requests share. */
export const shortText: z.ZodString = z.string().max(128);
export const text: z.ZodString = shortText.min(1);
export const address: z.ZodString = z.string().max(2048);
/** Whole milliseconds, at most 7 days. */
export const milliseconds: z.ZodInt = z.int().min(0).max(604_800_000);
