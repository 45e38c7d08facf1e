import type { TextFile } from '../repository.ts';

/** What a native writer would not say, and what to say instead: only what is wrong in every sentence. */
const PLAIN: readonly (readonly [odd: RegExp, plain: string])[] = [
  [/\b(?:some|no)body\b|\bwhoever\b/i, 'name the subject'],
  [/\bfor ever\b/i, 'permanently'],
  [/\bat once\b/i, 'immediately, or together'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, restore'],
  [/\bmust be a text\b|\bis a text\b/i, 'a string'],
  [/\b(?:is|was) away\b/i, 'unavailable'],
  [/\b(?:has|have|makes?) no sense\b/i, 'is invalid'],
  [/\bhear(?:s|d)? of\b|\bcomes? to know\b/i, 'receives, is notified of'],
  [/\bneeds? a look\b/i, 'needs attention'],
  [/\bhand(?:s|ed)? on\b/i, 'pass through'],
  [/\b(?:what|as it) came\b(?! (?:back|in|from|over|to))/i, 'name it: the request, the body'],
  [/(?<!far )\bas (?:it|they) must\b/i, 'as expected'],
  [/\bis no (?:hash|integer|string|number|list|JSON)\b/i, 'is not a …'],
  [/\bbelongs? into\b/i, 'belong in'],
  [/\bstands in it\b/i, 'appears in it'],
  [/\bthat people read\b/i, 'messages'],
  [/\b(?:MOST|LONGEST|LEAST|SHORTEST)_[A-Z]/, 'MAX_, MIN_'],
];

/** Data, and the user of Unix. */
const PERMITTED = /['`]nobody['`]|runs as nobody|Somebody Else/g;

/** Where a file says something odd. */
export function oddEnglish({ path, text }: TextFile): readonly string[] {
  return text.split('\n').flatMap((line, index) =>
    PLAIN.flatMap(([odd, plain]) => {
      const [found] = odd.exec(line.replace(PERMITTED, '')) ?? [];
      return found === undefined ? [] : [`${path}:${index + 1}: "${found}" (${plain})`];
    }),
  );
}
