/** The parts of a long page, folded: a reader sees the headings, with the first sentence below each, and opens what they need. */
import type { MarkdownRenderer } from 'vitepress';

export type Token = ReturnType<MarkdownRenderer['parse']>[number];
/** Makes a block of HTML. */
type Html = (content: string) => Token;

/** Shorter parts stay as they are. */
const LONG_PART = 200;
/** With more parts than this, one for each heading of the third level, a page is still too long. */
const MAX_PARTS = 100;

export function folded(tokens: Token[], html: Html, escapeHtml: (text: string) => string): Token[] {
  const isSmall = ({ type, tag }: Token): boolean => type === 'heading_open' && tag === 'h3';
  const tags = tokens.filter(isSmall).length > MAX_PARTS ? ['h2'] : ['h2', 'h3'];
  const starts = tokens.flatMap(({ type, tag }, index) =>
    type === 'heading_open' && tags.includes(tag) ? [index] : [],
  );
  const parts = starts.map((start, index) => tokens.slice(start, starts[index + 1]));
  return [...tokens.slice(0, starts[0]), ...parts.flatMap((part) => foldedPart(part, html, escapeHtml))];
}

/** A heading stays where links find it, and so does the anchor of the next heading, which precedes it. */
function foldedPart(
  part: readonly Token[],
  html: Html,
  escapeHtml: (text: string) => string,
): readonly Token[] {
  const [heading, content] = [part.slice(0, 3), part.slice(3)];
  const anchor = content.at(-2)?.content.startsWith('<a id=') ? content.splice(-3) : [];
  if (lengthOf(content) < LONG_PART) return part;
  const open = html(`<details><summary v-pre>${escapeHtml(summaryOf(part))}</summary>\n`);
  return [...heading, open, ...content, html('</details>\n'), ...anchor];
}

/** The first sentence, as text: a link in a summary would be a control in a control. */
function summaryOf(part: readonly Token[]): string {
  const paragraph = part.findIndex(({ type }) => type === 'paragraph_open');
  const text = textOf(part[paragraph + 1]);
  const [sentence = text] = /^.{30,}?[.:](?=\s|$)/.exec(text) ?? [];
  return paragraph === -1 ? `More about ${textOf(part[1])}` : sentence;
}

function textOf(inline: Token | undefined): string {
  const texts = (inline?.children ?? []).map(({ type, content }) =>
    type === 'softbreak' ? ' ' : type === 'text' || type === 'code_inline' ? content : '',
  );
  return texts.join('').trim();
}

function lengthOf(tokens: readonly Token[]): number {
  return tokens.reduce((sum, { content }) => sum + content.length, 0);
}
