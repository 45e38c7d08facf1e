/** A word or words with a capital letter first and no other, such as a state in a cell. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

/** A decimal of any length with its whole digits grouped: '5,000,000.50'. Anything else is returned as it is. */
export function groupedDigits(amount: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(amount) ?? [];
  const first = whole.length % 3 || 3;
  const grouped = whole.slice(0, first) + whole.slice(first).replace(/\d{3}/g, ',$&');
  return whole === '' ? amount : sign + grouped + fraction;
}
