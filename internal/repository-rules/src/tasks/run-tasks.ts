/**
 * `pnpm tasks COMMAND…`: gives each of the ten tasks to a reader, and judges the resulting program. The reader is any command:
 * it starts in a folder that contains only the documents and TASK.md, and leaves server.mjs there. `--only NAME` before the
 * command selects one task. The exit code is 1 if a program is wrong: then the documents have misled the reader.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { filesMatching } from '../repository.ts';
import { taskProblems } from './judge.ts';
import { COMMON, TASKS } from './tasks.ts';

const MAX_READING_MS = 30 * 60_000;
const given = process.argv.slice(2).filter((word, index) => !(index === 0 && word === '--'));
const only = given[0] === '--only' ? given[1] : undefined;
const [command, ...args] = only === undefined ? given : given.slice(2);
if (command === undefined) throw new Error('Name the reader: pnpm tasks [--only NAME] COMMAND ARGUMENTS…');
const installed = join(import.meta.dirname, '../../node_modules');
let wrong = 0;

for (const task of TASKS.filter(({ name }) => only === undefined || name === only)) {
  const folder = mkdtempSync(join(tmpdir(), `task-${task.name}-`));
  try {
    for (const { path, text } of filesMatching(
      'README.md',
      'docs/**/*.md',
      'packages/*/{AGENTS,README}.md',
    )) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    writeFileSync(join(folder, 'TASK.md'), `${COMMON}${task.text}\n`);
    spawnSync(command, args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: MAX_READING_MS,
    });
    // Only now, since a linked package includes its sources, which a reader of the documents does not have.
    symlinkSync(installed, join(folder, 'node_modules'), 'junction');
    const problems = existsSync(join(folder, 'server.mjs'))
      ? await taskProblems(task, folder)
      : ['the reader left no server.mjs'];
    console.log(
      [`${problems.length === 0 ? 'right' : 'WRONG'}  ${task.name}`, ...problems].join('\n         '),
    );
    if (problems.length > 0) wrong += 1;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}
process.exitCode = wrong === 0 ? 0 : 1;
