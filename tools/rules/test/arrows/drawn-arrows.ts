import { adapters } from '../../src/manifests.ts';

/** Which packages may use each other, by folder name: `core`, `express`, `shop`. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Reads the arrows of ARCHITECTURE.md: lines such as `openapi → core → express | koa → apps/shop`, where each name may
 * be used by every one to its right. The drawing is the only list of them.
 */
export function drawnArrows(section: string): Arrows {
  const allowed = new Map<string, Set<string>>();
  for (const line of section.split('\n').filter((text) => /^ {4}.*→/.test(text))) {
    const seen: string[] = [];
    for (const group of line.split('→').map(namesIn)) {
      for (const name of group) allowed.set(name, new Set([...(allowed.get(name) ?? []), ...seen]));
      seen.push(...group);
    }
  }
  return allowed;
}

function namesIn(group: string): readonly string[] {
  const text = group.replace(/\(.*?\)/g, '').trim();
  if (text === 'the adapters') return adapters;
  return text.split('|').map((name) => name.trim().split('/').at(-1) ?? '');
}
