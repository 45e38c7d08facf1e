import { parse } from 'yaml';

/** The effect of a difference: different words, something new, or something that may break existing code. */
export type Change = 'none' | 'text' | 'addition' | 'breaking';
export type Bump = 'patch' | 'minor' | 'major';

/** A difference, and the first line of it that decided. */
export interface Difference {
  readonly change: Change;
  readonly line: string;
}

const ORDER: readonly Change[] = ['none', 'text', 'addition', 'breaking'];
/** Types that a user writes: a member that becomes required breaks their code. */
const WRITTEN_BY_USERS = /(?:Options|Query|Request|Input|Selector)\b/;
/** Members of the contract that only describe. */
const DESCRIPTIVE = ['description', 'summary', 'example', 'examples', 'title', 'x-known-values'];

/** The difference between two reports of a public API, as `pnpm api` writes them; `''` when they are equal. */
export function surfaceDifference(before: string, after: string): Difference {
  const [old, now] = [declarations(before), declarations(after)];
  const found: Difference[] = [];
  for (const [name, lines] of old) {
    const remaining = [...(now.get(name) ?? [])];
    // Changes to a type that is not exported show in the types that use it.
    if (!now.has(name) && !name.startsWith('export')) continue;
    for (const line of lines) {
      const at = remaining.indexOf(line);
      if (at < 0) found.push({ change: 'breaking', line });
      else remaining.splice(at, 1);
    }
    for (const line of remaining) {
      const isRequired = WRITTEN_BY_USERS.test(name) && /^(?:readonly )?\w+:/.test(line);
      found.push({ change: isRequired ? 'breaking' : 'addition', line });
    }
  }
  for (const [name, [line = '']] of now)
    if (!old.has(name) && name.startsWith('export')) found.push({ change: 'addition', line });
  return furthest(found);
}

/** The difference between two versions of the contract (YAML or JSON). */
export function contractDifference(before: string, after: string): Difference {
  const [old, now] = [members(parse(before)), members(parse(after))];
  const found: Difference[] = before === after ? [] : [{ change: 'text', line: 'a description' }];
  for (const line of old) if (!now.has(line)) found.push({ change: 'breaking', line });
  for (const line of now) if (!old.has(line)) found.push({ change: 'addition', line });
  return furthest(found);
}

/** The difference with the largest effect. */
export function furthest(differences: readonly Difference[]): Difference {
  const [first] = differences.toSorted(
    (one, other) => ORDER.indexOf(other.change) - ORDER.indexOf(one.change),
  );
  return first ?? { change: 'none', line: '' };
}

/**
 * The smallest version step for a change. Below 1.0.0 a caret range ends at the next minor version, so breaking changes are
 * minor and everything else is a patch.
 */
export function bumpFor(change: Change, version: string): Bump | undefined {
  if (change === 'none') return undefined;
  if (version.startsWith('0.')) return change === 'breaking' ? 'minor' : 'patch';
  return change === 'breaking' ? 'major' : change === 'addition' ? 'minor' : 'patch';
}

/** The declarations of a report by the line that opens them, each as its lines. */
function declarations(report: string): ReadonlyMap<string, readonly string[]> {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(report) ?? [];
  const blocks = code
    .split(/\n{2,}/)
    .map((block) => (block.match(/\S.*/g) ?? []).filter((line) => !line.startsWith('import ')))
    .filter((lines) => lines.length > 0);
  return new Map(blocks.map((lines) => [nameOf(lines[0] ?? ''), lines]));
}

/** `export interface Inbox<Tx> {` is `export interface Inbox`: what it extends may change, its name may not. */
function nameOf(line: string): string {
  return (/^(?:export )?(?:declare |abstract )*\w+ [\w{ ,}]*\w/.exec(line)?.[0] ?? line).trim();
}

/** One line for each value of a document, with its path. */
function members(value: unknown, path = ''): Set<string> {
  const lines = new Set<string>();
  if (Array.isArray(value)) {
    // The order of a list does not matter here.
    for (const one of value) for (const line of members(one, `${path}[]`)) lines.add(line);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      if (!DESCRIPTIVE.includes(name) || path.endsWith('/properties'))
        for (const line of members(member, `${path}/${name}`)) lines.add(line);
    if (lines.size === 0) lines.add(path);
  } else {
    lines.add(`${path}: ${value}`);
  }
  return lines;
}
