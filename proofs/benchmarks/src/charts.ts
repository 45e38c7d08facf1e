/**
 * `pnpm charts`: draws docs/charts/*.svg from docs/charts/charts.json, the figures of the two pages of evidence. A chart is
 * readable without colour: its own bars are solid, those of peers are hollow and those of controls are dashed, and each has its
 * value beside it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'docs', 'charts');
const WIDTH = 760;
const ROW = 26;
const TOP = 66;
/** Where bars begin, and the length of the longest. */
const LEFT = 270;
const LONGEST = 410;

const STYLE = `svg { --ink: #1f2328; --quiet: #59636e; --own: #0550ae; --edge: #818b98; --paper: #ffffff }
@media (prefers-color-scheme: dark) { svg { --ink: #f0f6fc; --quiet: #9198a1; --own: #79c0ff; --edge: #818b98; --paper: #0d1117 } }
text { font: 13px system-ui, sans-serif; fill: var(--ink) }
.title { font-size: 16px; font-weight: 600 } .note, .control-text { font-size: 12px; fill: var(--quiet) }
.group, .own-text { font-weight: 600 } .paper { fill: var(--paper) }
rect.own { fill: var(--own) } rect.other, rect.control { fill: none; stroke: var(--edge); stroke-width: 1.5 }
rect.control { stroke-dasharray: 4 3 } line { stroke: var(--ink); stroke-width: 2 }`;

interface Row {
  /** A heading above the next rows. */
  readonly group?: string;
  readonly label?: string;
  readonly value?: number;
  /** As the page writes the value, if that differs. */
  readonly text?: string;
  readonly target?: number;
  readonly kind?: 'own' | 'other' | 'control';
  /** What the control found. Such a row has a count in place of a bar. */
  readonly control?: string;
}

export interface Chart {
  readonly name: string;
  /** The page that has the figures. */
  readonly page: string;
  readonly title: string;
  readonly note: string;
  readonly rows: readonly Row[];
}

export const charts: readonly Chart[] = JSON.parse(readFileSync(join(FOLDER, 'charts.json'), 'utf8'));

export const fileOf = ({ name }: Chart): string => join(FOLDER, `${name}.svg`);

/** The value as a page writes it. */
export const figureOf = ({ value = 0, text = value.toLocaleString('en') }: Row): string => text;

export function draw({ title, note, rows }: Chart): string {
  const height = TOP + rows.length * ROW + 6;
  const longest = Math.max(...rows.flatMap(({ value = 0, target = 0 }) => [value, target]));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="6" />`,
    words('title', 12, 26, title),
    words('note', 12, 46, note),
    ...rows.flatMap((row, index) => drawRow(row, TOP + index * ROW, LONGEST / longest)),
    '</svg>',
  ].join('\n')}\n`;
}

function drawRow(row: Row, y: number, scale: number): readonly string[] {
  const { group, label = '', value = 0, target, kind = 'own', control } = row;
  const base = y + 16;
  if (group !== undefined) return [words('group', 12, base, group)];
  if (control !== undefined)
    return [
      words('own-text', 12, base, figureOf(row)),
      words('', 40, base, label),
      words('control-text', 400, base, `control: ${control}`),
    ];
  const width = Math.round(value * scale);
  const mark = LEFT + Math.round((target ?? 0) * scale);
  // A value beside the mark would look like that of the target, unless there is no room before it.
  const gap = mark - LEFT - width;
  const end = gap >= 0 && gap < 60 ? mark : LEFT + width;
  return [
    words(kind === 'own' ? 'own-text' : '', 12, base, label),
    `<rect class="${kind}" x="${LEFT}" y="${y + 4}" width="${width}" height="16" />`,
    ...(target === undefined ? [] : [`<line x1="${mark}" x2="${mark}" y1="${y + 1}" y2="${y + 23}" />`]),
    words('', end + 8, base, figureOf(row)),
  ];
}

function words(kind: string, x: number, y: number, text: string): string {
  return `<text${kind === '' ? '' : ` class="${kind}"`} x="${x}" y="${y}">${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

if (import.meta.main) for (const chart of charts) writeFileSync(fileOf(chart), draw(chart));
