const SECONDS = /^\d+$/;
/** RFC 9110, 5.6.7: the date that is sent today, and the two old forms that a recipient must still read. */
const GMT_DATE = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(?:\d{2})? \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads the value of `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
 *
 * @returns milliseconds from `now`, at least 0; undefined when there is none that can be read. `Date.parse` alone
 * would read "-5" and "1.5" as dates.
 */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (SECONDS.test(value)) return Number(value) * 1000;
  const date = GMT_DATE.test(value)
    ? Date.parse(value)
    : ASCTIME.test(value)
      ? Date.parse(`${value} GMT`)
      : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
