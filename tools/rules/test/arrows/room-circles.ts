import { posix } from 'node:path';
import type { TextFile } from '../../src/repository.ts';
import { importedModules } from './foreign-imports.ts';

/**
 * The rooms of a package that import each other, directly or through others. A room is a folder of `src`, or a file beside
 * those folders. The linter finds circles of files; two rooms can import each other without one.
 */
export function roomCircles(folder: string, files: readonly TextFile[]): readonly string[] {
  const source = `${folder}/src/`;
  const roomOf = (path: string): string => path.slice(source.length).split('/')[0] ?? '';
  const used = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    if (!path.startsWith(source) || !path.endsWith('.ts')) continue;
    const targets = importedModules(text).map((module) => posix.join(posix.dirname(path), module));
    const rooms = targets.filter((target) => target.startsWith(source)).map(roomOf);
    const others = rooms.filter((room) => room !== roomOf(path));
    used.set(roomOf(path), new Set([...(used.get(roomOf(path)) ?? []), ...others]));
  }
  const below = (room: string): Set<string> => {
    // A set can grow while it is iterated.
    const found = new Set(used.get(room));
    for (const one of found) for (const next of used.get(one) ?? []) found.add(next);
    return found;
  };
  return [...used.keys()].filter((room) => below(room).has(room)).map((room) => `${folder}: ${room}`);
}
