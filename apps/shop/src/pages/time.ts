/** For people: "2026-11-21 08:30:00 UTC". */
export function time(moment: number | Date): string {
  return new Date(moment)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
