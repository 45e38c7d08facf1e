import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from '../../measure/results.ts';
import type { ManagedProcess } from '../managed-process.ts';
import type { Fault, FaultParts } from './fault.ts';

/** One receiver and one worker run from another checkout, with that version of the inbox, on the same tables. */
export async function twoVersions({ other }: FaultParts): Promise<Fault> {
  if (other === undefined)
    throw new Error('two-versions needs --other, the folder of another checkout with its dependencies.');
  const own = join(import.meta.dirname, '..', '..', '..', '..', '..');
  const [ours, theirs] = [sourceOf(own), sourceOf(other)];
  const names = new Set([...ours.keys(), ...theirs.keys()]);
  const changed = [...names].filter((name) => ours.get(name) !== theirs.get(name)).length;
  const isSameSchema = ['postgres', 'sqlite'].every((store) => {
    const name = `migrations/001.${store}.sql`;
    return ours.get(name) === theirs.get(name);
  });
  return {
    programs: (index) =>
      index === 1 ? join(other, 'internal', 'laboratory', 'src', 'crashes') : join(import.meta.dirname, '..'),
    happened: async ({ receivers, workers }) => [
      judge('files of the inbox that differ', 'files', changed, 'at least', 1),
      judge('versions on one schema', 'versions', isSameSchema ? 2 : 1, 'exactly', 2),
      ...[receivers, workers].flatMap((both) =>
        both.map((one, index) => done(one, index === 1 ? 'other version' : 'this version')),
      ),
    ],
  };
}

function done({ role, entered }: ManagedProcess, version: string): ReturnType<typeof judge> {
  const phase = role === 'worker' ? 'handler' : 'intake';
  return judge(`${role}, ${version}: times in phase ${phase}`, 'times', entered[phase], 'at least', 20);
}

/** The files of the inbox, by their names below `src` and `sql`. */
function sourceOf(checkout: string): Map<string, string> {
  const parts = ['src', 'sql'].map((part) => join(checkout, 'packages', 'inbox', part));
  const files = parts.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')] as const),
  );
  return new Map(files);
}
