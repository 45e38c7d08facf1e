import { tableRows } from '../markdown.ts';
import type { TextFile } from '../repository.ts';

/**
 * Words of the column "we do not say" that also have an ordinary meaning. They are wrong only if they replace the word beside
 * them, which a reader must judge.
 */
const ORDINARY = ['return', 'callback', 'secret', 'payload', 'trusted data', 'event id', 'order'];

/** Names of other projects, and keywords of formats. */
const PERMITTED: readonly (readonly [phrase: RegExp, where: RegExp])[] = [
  // The keyword of OpenAPI 3.1, in the contract, in what is generated from it, and in what reads it.
  [/^webhooks:$/gm, /^openapi\/payment-service\.yaml$/],
  [/\bwebhooks\b/g, /^packages\/core\/src\/(generated\/payment-service|wire)\.ts$/],
  [/\bwebhooks\b/g, /^internal\/contract\//],
  // Its name for keys in headers.
  [/^( +)type: apiKey$/gm, /^openapi\/payment-service\.yaml$/],
  // What a reader searches for.
  [/\bwebhook\b/g, /^internal\/site\/test\//],
  // A setting of npm.
  [/_authToken/g, /^internal\/release\//],
  // An event of a client of `pg`.
  [/'notification'/g, /^packages\/inbox\/src\/store\//],
  // The permission that trusted publishing needs, in workflows and in what checks them.
  [/\bid-token\b/g, /^(\.github\/workflows|internal\/release)\//],
  // The tokens of a bucket that limits retries.
  [/\btokens?\b/gi, /^packages\/core\/src\/client\/call\.ts$/],
  // The event of `pg` for NOTIFY.
  [/['"]notification['"]/g, /^packages\/inbox\/(api|src)\//],
  // Peers in the benchmarks: their interfaces, and their names in documents.
  [/webhook/gi, /^benchmarks\/(src|test)\//],
  [
    /@octokit\/webhooks(?:-methods)?|standardwebhooks|Standard Webhooks|\bwebhooks\.constructEvent/g,
    /^(benchmarks\/|docs\/|knip\.json$)/,
  ],
];

/** The words that the glossary excludes. */
export function forbiddenWords(glossary: string): readonly string[] {
  const words = tableRows(glossary).flatMap(([, , never = '']) =>
    never.split(',').map((word) => word.trim()),
  );
  return [...new Set(words)].filter((word) => word !== '' && !ORDINARY.includes(word));
}

/** The places where one of the words appears, in any spelling: `api key`, `apiKey`, `API_KEY`, `api-keys`. */
export function saidIn({ path, text }: TextFile, words: readonly string[]): readonly string[] {
  let rest = text;
  for (const [phrase, where] of PERMITTED) if (where.test(path)) rest = rest.replace(phrase, '');
  const lines = rest.split('\n');
  return words.flatMap((word) => {
    const pattern = new RegExp(`(?<![a-z])${word.split(' ').join('[ _-]?')}`, 'i');
    const humps = new RegExp(word.split(' ').map(capitalised).join(''));
    return lines.flatMap((line, index) =>
      pattern.test(line) || humps.test(line) ? [`${path}:${index + 1}: ${word}`] : [],
    );
  });
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
}
