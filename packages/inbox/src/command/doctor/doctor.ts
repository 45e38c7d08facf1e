import { existsSync } from 'node:fs';
import { styleText } from 'node:util';
import { printableLines } from '@payment-service/core/internal';
import type { Command } from 'commander';
import { spoolOwner } from '../../intake/spool.ts';
import { versionOf } from '../../store/schema.ts';
import { isWrongUse } from '../failure.ts';
import { type OpenOptions, type OpenStore, withStore } from '../open-inbox.ts';
import {
  NEXT_STEP,
  OWN_VERSIONS,
  placeOf,
  printVersions,
  readEngine,
  type TableState,
  tableState,
  type Versions,
} from '../tables.ts';
import { option, SPOOL, upTo, verb } from '../verbs.ts';
import { type Finding, failure, notice, problem, uncheckable } from './finding.ts';
import { checkInbox, checkJournal, keepOne } from './inbox.ts';
import { checkClock, checkNotify, checkServer, type PoolSize } from './server.ts';
import { checkSpool } from './spool.ts';

interface DoctorOptions extends PoolSize {
  readonly spool?: string;
}

/** The report of doctor. */
interface Diagnosis {
  /** No problem was found. */
  readonly ok: boolean;
  readonly versions: Versions;
  readonly findings: readonly Finding[];
}

/** `doctor`. */
export const DOCTOR: readonly ((program: Command) => void)[] = [
  verb<DoctorOptions, Diagnosis>({
    name: 'doctor',
    about: 'finds problems, and says why they matter and what to do; exit code 3 for a problem',
    options: [
      SPOOL,
      option(
        '--pool <max>',
        "the max of your program's pool, to compare with the limits of the server",
        upTo(100_000),
      ),
      option('--processes <number>', 'how many processes have such a pool', upTo(100_000), 1),
    ],
    run: (given) => diagnose(given, given),
    print,
    needsPerson: ({ ok }) => !ok,
  }),
];

async function diagnose(given: OpenOptions, options: DoctorOptions): Promise<Diagnosis> {
  const findings: Finding[] = [];
  let versions = OWN_VERSIONS;
  let { spool } = options;
  /** @param toFinding Turns the failure of a check into a finding, if the failure itself is one. */
  const check = async (
    name: string,
    toFinding: (name: string, error: unknown) => Finding,
    run: () => Promise<readonly (Finding | false)[]>,
  ): Promise<void> => {
    try {
      findings.push(...(await run()).filter((each) => each !== false));
    } catch (error) {
      if (isWrongUse(error)) throw error;
      findings.push(toFinding(name, error));
    }
  };
  const examine = async <Tx>(opened: OpenStore<Tx>): Promise<void> => {
    const { pool, statements } = opened;
    spool ??= opened.spoolPath;
    versions = { ...versions, engine: await readEngine(opened) };
    if (pool !== undefined) {
      await check('server', uncheckable, () => checkServer(opened, options));
      await check('notify', uncheckable, () => checkNotify(pool));
      await check('clock', uncheckable, () => checkClock(opened));
    }
    let isUsable = false;
    await check('tables', failure, async () => {
      versions = { ...versions, tables: await versionOf(statements) };
      const state = tableState(versions);
      isUsable = state === 'current' || state === 'newer';
      return [tablesFinding(state, versions)];
    });
    if (!isUsable) return;
    await check('inbox', uncheckable, () => checkInbox(opened));
    // Last, since it leaves a sign of a running process.
    if (!findings.some((found) => found.check === 'standby'))
      await check('callback', failure, async () => {
        await keepOne(opened);
        return [];
      });
  };
  const { account = '', database } = given;
  const isFile = database !== undefined && existsSync(database);
  if (isFile) await check('journal', uncheckable, () => checkJournal(database));
  await check('database', failure, async () => {
    await withStore(given, examine);
    return [];
  });
  if (spool !== undefined) {
    const [path, owner] = [spool, spoolOwner(account, placeOf(given))];
    await check('spool', failure, () => checkSpool(path, owner));
  }
  return { ok: findings.every(({ level }) => level === 'notice'), versions, findings };
}

function tablesFinding(state: TableState, { tables = 0 }: Versions): Finding | false {
  if (state === 'current') return false;
  if (state === 'newer') {
    return notice`tables: The tables have version ${tables}, which is newer than this program.
      Old and new programs run side by side.
      ${NEXT_STEP.newer}`;
  }
  return problem`tables: ${state === 'none' ? 'There are no tables of the inbox' : `The tables have version ${tables}, which is older than this program`}.
    No callback can be stored until they fit, and none is applied.
    ${NEXT_STEP[state]}`;
}

function print({ ok, versions, findings }: Diagnosis): void {
  printVersions(versions);
  for (const { check, level, seen, why, todo } of findings) {
    const title = styleText(level === 'problem' ? 'red' : 'yellow', `${level}: ${check}`, {
      stream: process.stdout,
    });
    console.log(`\n${title}\n${printableLines(`  Seen: ${seen}\n  Why:  ${why}\n  Do:   ${todo}`)}`);
  }
  console.log(ok ? '\nNo problem was found.' : '');
}
