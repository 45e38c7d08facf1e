import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@payment-service/durability/measure/program.ts';
import { type Fault, ROOT } from './plant-faults.ts';

/** A change of one statement, which Stryker cannot make. */
interface SqlFault {
  readonly file: string;
  /** How its head begins, without `-- name: `. */
  readonly statement: string;
  readonly from: string;
  readonly to: string;
}

const INBOX = join('packages', 'inbox');
const TESTS = ['test/contract', 'test/interleavings', 'test/store', 'test/reconciliation'];
const LIST = join(import.meta.dirname, '..', 'sql-faults.json');

/**
 * Plants each fault of sql-faults.json in a copy of the inbox, and runs the tests of both engines there. The
 * control is the copy without a fault: if its tests fail, so would they with any.
 */
export async function plantSql(): Promise<Fault[]> {
  const copy = await copyOfInbox();
  const passes = (): boolean => {
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', ...TESTS];
    return spawnSync(process.execPath, args, { cwd: join(copy, INBOX), stdio: 'ignore' }).status === 0;
  };
  if (!passes()) throw new Error('The inbox tests fail without a planted fault.');
  const faults: Fault[] = [];
  for (const { file, statement, from, to } of JSON.parse(await readFile(LIST, 'utf8')) as SqlFault[]) {
    const path = join(INBOX, 'sql', file);
    const text = await readFile(join(ROOT, path), 'utf8');
    const start = text.indexOf(`-- name: ${statement}`);
    const at = text.indexOf(from, start);
    if (start < 0 || at < 0) throw new Error(`${file} has no statement "${statement}" with: ${from}`);
    await writeFile(join(copy, path), text.slice(0, at) + to + text.slice(at + from.length));
    const status = passes() ? 'Survived' : 'Killed';
    await writeFile(join(copy, path), text);
    const code = `${statement}: «${from} → ${to}»`.replace(/\s+/g, ' ');
    faults.push({ part: 'sql', file, line: 0, code, status });
    if (status === 'Survived') console.log(`Survived: ${file}: ${code}`);
  }
  return faults;
}

/** Copies the inbox, and links everything else. */
async function copyOfInbox(): Promise<string> {
  const folder = await makeFolder();
  await mkdir(join(folder, 'packages'));
  for (const name of await readdir(ROOT))
    if (name !== 'packages' && name !== '.git') await symlink(join(ROOT, name), join(folder, name));
  for (const name of await readdir(join(ROOT, 'packages')))
    if (name !== 'inbox') await symlink(join(ROOT, 'packages', name), join(folder, 'packages', name));
  await cp(join(ROOT, INBOX), join(folder, INBOX), { recursive: true, verbatimSymlinks: true });
  return folder;
}
