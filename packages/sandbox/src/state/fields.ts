import * as z from 'zod';

/** Fields that several requests share. */
export const shortText: z.ZodString = z.string().max(128);
export const text: z.ZodString = shortText.min(1);
export const address: z.ZodString = z.string().max(2048);
/** Whole milliseconds, at most 7 days. */
export const milliseconds: z.ZodInt = z.int().min(0).max(604_800_000);

const object = z.record(z.string(), z.unknown());

/** The value of a JSON document; undefined for anything else, such as an edited body. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** A value as an object; undefined for anything else. */
export const asObject = (value: unknown): Record<string, unknown> | undefined => object.safeParse(value).data;
