const BARS = '▁▂▃▄▅▆▇█';

/** A series as one line of a terminal: zero is a space, and the largest value the highest bar. */
export function spark(values: readonly number[]): string {
  const most = Math.max(...values);
  return values
    .map((value) => (value <= 0 ? ' ' : (BARS[Math.min(7, Math.floor((value / most) * 7.999))] ?? ' ')))
    .join('');
}
