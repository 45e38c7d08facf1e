/**
 * What may be told about an error of a database: its code. Messages of databases quote values, and those can hold a
 * body.
 */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code: unknown = Reflect.get(error, 'code');
  const errcode: unknown = Reflect.get(error, 'errcode');
  if (typeof errcode === 'number') return `SQLITE_${errcode}`;
  return typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? code : error.name;
}
