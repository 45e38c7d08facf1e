import * as z from 'zod';

const object = z.record(z.string(), z.unknown());

/** The value of a JSON text; undefined for anything else, which an edited body may be. */
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
