/** A fenced block: ```` ```ts program ```` has the info `ts program`. `line` is that of its first line of code. */
export interface FencedBlock {
  readonly info: string;
  readonly code: string;
  readonly line: number;
}

const FENCE = /^( *)```([^\n`]*)\n([\s\S]*?)^ *```[^\S\n]*$/gm;

export function fencedBlocks(markdown: string): readonly FencedBlock[] {
  return [...markdown.matchAll(FENCE)].map(({ index, 2: info = '', 3: code = '' }) => ({
    info: info.trim(),
    code,
    line: markdown.slice(0, index).split('\n').length + 1,
  }));
}

/** The document without its fenced and indented blocks; lines keep their numbers. */
export function prose(markdown: string): string {
  return markdown
    .replace(FENCE, (block) => block.replace(/[^\n]/g, ''))
    .replace(/(^|\n\n)(?: {4}[^\n]*(?:\n|$))+/g, (block) => block.replace(/[^\n]/g, ''));
}

/** The anchors of the headings, as code hosts generate them. */
export function anchors(markdown: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of prose(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const base = plain.replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-');
    let anchor = base;
    for (let count = 1; found.has(anchor); count++) anchor = `${base}-${count}`;
    found.add(anchor);
  }
  return found;
}

/** The part of a document under one heading, up to the next heading of the same or a higher level. */
export function section(markdown: string, heading: string): string {
  const lines = markdown.split('\n');
  const start = lines.indexOf(heading);
  if (start === -1) throw new Error(`there is no heading "${heading}"`);
  const level = /^#+/.exec(heading)?.[0].length ?? 1;
  const length = lines.slice(start + 1).findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n');
}

/** The rows of every table, header rows and rulers left out; cells are trimmed. */
export function tableRows(markdown: string): readonly (readonly string[])[] {
  const lines = prose(markdown).split('\n');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRuler(line) && !isRuler(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}

function isRuler(line: string): boolean {
  return /^\|[-| :]+\|$/.test(line);
}
