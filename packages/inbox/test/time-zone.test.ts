import { expect, test } from 'vitest';
import { dayIn, endIn, isTimeZone, momentIn } from '../src/time-zone.ts';

test.each([
  ['UTC', '2026-01-31', '2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  ['Africa/Kampala', '2026-01-31', '2026-01-30T21:00:00.000Z', '2026-01-31T21:00:00.000Z'],
  ['Asia/Kolkata', '2026-01-31', '2026-01-30T18:30:00.000Z', '2026-01-31T18:30:00.000Z'],
  ['America/New_York', '2026-01-31', '2026-01-31T05:00:00.000Z', '2026-02-01T05:00:00.000Z'],
  // The day on which clocks go forward has 23 hours, that on which they go back 25.
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
])('in %s the day %s is from %s to %s', (zone, day, from, to) => {
  expect(momentIn(zone, day)?.toISOString()).toBe(from);
  expect(endIn(zone, day)?.toISOString()).toBe(to);
  expect(dayIn(zone, Date.parse(from))).toBe(day);
  expect(dayIn(zone, Date.parse(to) - 1)).toBe(day);
});

test('a time of day is that of the zone, unless it has an offset', () => {
  expect(momentIn('Africa/Kampala', '2026-01-31T09:00')?.toISOString()).toBe('2026-01-31T06:00:00.000Z');
  expect(momentIn('Africa/Kampala', '2026-01-31T09:00Z')?.toISOString()).toBe('2026-01-31T09:00:00.000Z');
  expect(endIn('Africa/Kampala', '2026-01-31T09:00:30.5')?.toISOString()).toBe('2026-01-31T06:00:30.500Z');
});

test.each([
  '',
  'yesterday',
  '2026-13-01',
  '2026-02-30',
  '2026-01-31T25:00',
  '2026-02-30T09:00+03:00',
  '1',
  '+275760-09-13',
])('%j names no moment', (text) => {
  expect([momentIn('UTC', text), endIn('UTC', text)]).toEqual([undefined, undefined]);
});

test('zones that the runtime does not know are refused', () => {
  expect(['UTC', 'Africa/Kampala', 'Mars/Olympus', '', 3].map(isTimeZone)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
