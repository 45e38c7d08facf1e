/** The names of the inbox's tables in one engine, ready for a statement. */
export interface Tables {
  readonly transition: string;
  readonly body: string;
  readonly expectation: string;
  readonly applied: string;
  readonly start: string;
  readonly migration: string;
}

const NAMES = ['transition', 'body', 'expectation', 'applied', 'start', 'migration'] as const;

/** @param prefix `payment_inbox.` where the tables have a schema of their own, `payment_inbox_` where there is none. */
export function tablesNamed(prefix: string): Tables {
  const named = NAMES.map((name) => [name, `${prefix}${name}`] as const);
  return Object.freeze(Object.fromEntries(named) as Record<(typeof NAMES)[number], string>);
}
