import { styleText } from 'node:util';
import { printable } from '@payment-service/core/internal';

export type Colour = 'red' | 'yellow' | 'green' | 'bold';
type Cell = string | readonly [text: string, colour: Colour | undefined];

/** Without colours in a pipe, and where NO_COLOR is set. */
export const coloured = (colour: Colour, text: string): string =>
  styleText(colour, text, { stream: process.stdout });

export const titled = (title: string, text: string): string =>
  text === '' ? '' : `${coloured('bold', title)}\n${text}`;

/** Parts of an output with an empty line between them; empty ones are left out. */
export const paragraphs = (...parts: readonly string[]): string => parts.filter(Boolean).join('\n\n');

/** Rows as aligned lines; nothing without rows. */
export function table(header: readonly string[] | undefined, rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '';
  const head = header?.map((text): Cell => [text, 'bold']);
  const cells = [...(head ? [head] : []), ...rows].map((row) =>
    row.map((cell) => {
      const [text, colour] = typeof cell === 'string' ? [cell] : cell;
      return { text: printable(text), colour };
    }),
  );
  const widths = cells[0]?.map((_, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.text.length ?? 0), 0),
  );
  const lines = cells.map((row) => {
    const padded = row.map(({ text, colour }, column) => {
      const padding = column === row.length - 1 ? '' : ' '.repeat((widths?.[column] ?? 0) - text.length);
      return (colour === undefined ? text : coloured(colour, text)) + padding;
    });
    return padded.join('  ');
  });
  return lines.join('\n');
}
