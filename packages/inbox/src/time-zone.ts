/** A date, with or without a time of day, and the offset of that time if it has one. */
const DATE = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Whether the runtime knows the zone: an IANA name such as Africa/Kampala, or UTC. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string') return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** By how many milliseconds the clocks of a zone are ahead of UTC at a moment. */
function aheadMs(timeZone: string, ms: number): number {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  const ahead = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ahead : ahead;
}

/**
 * The moment that a string names in a time zone: `2026-01-31` is the midnight at which the day begins there. A string with an
 * offset, such as `2026-01-31T09:00Z`, names the same moment in every zone. `undefined` if it is neither.
 */
export function momentIn(timeZone: string, text: string): Date | undefined {
  const [, day, offset] = DATE.exec(text) ?? [];
  if (day === undefined) return undefined;
  const date = new Date(offset === undefined ? `${DAY.test(text) ? `${text}T00:00` : text}Z` : text);
  const ms = date.getTime();
  // JavaScript reads 30 February as 2 March.
  if (Number.isNaN(ms) || new Date(`${day}T00:00Z`).toISOString().slice(0, 10) !== day) return undefined;
  if (offset !== undefined) return date;
  // The offset at the moment that is meant may differ from that at the same time in UTC: clocks change in between.
  return new Date(ms - aheadMs(timeZone, ms - aheadMs(timeZone, ms)));
}

/** The end of a period in a time zone, exclusive: a date without a time includes its day. */
export function endIn(timeZone: string, text: string): Date | undefined {
  const begins = momentIn(timeZone, text);
  if (begins === undefined || !DAY.test(text)) return begins;
  const next = new Date(Date.parse(text) + 86_400_000);
  return momentIn(timeZone, next.toISOString().slice(0, 10));
}

/** The date on the calendars of a zone at a moment, such as `2026-01-31`. */
export function dayIn(timeZone: string, ms: number): string {
  return new Date(ms + aheadMs(timeZone, ms)).toISOString().slice(0, 10);
}
