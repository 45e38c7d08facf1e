import { ConfigurationError } from '@payment-service/core';
import { printableLines } from '@payment-service/core/internal';
import { tryToKeep } from '../../intake/keep-deliveries.ts';
import { spoolOwner } from '../../intake/spool-file.ts';
import { adviceOn } from '../../reporting/database-advice.ts';
import { type Finding, notice, problem } from '../../reporting/finding.ts';
import { versionOf } from '../../store/schema.ts';
import { messageOf } from '../failure.ts';
import { coloured, paragraphs } from '../format.ts';
import {
  type OpenOptions,
  type OpenStore,
  placeOf,
  readEngine,
  WrongInboxError,
  withStore,
} from '../open-inbox.ts';
import { formatVersions, mustChange, NEXT_STEP, OWN_VERSIONS, tableState, type Versions } from '../tables.ts';
import { type AddVerb, option, SPOOL, upTo, verb } from '../verbs.ts';
import { checkFiles, checkInbox, checkSpool } from './inbox-checks.ts';
import { checkServer, type PoolSize } from './server-checks.ts';

interface DoctorOptions extends PoolSize {
  readonly spool?: string;
}

const MANY = upTo(100_000);
const KEEP_MS = 5000;

/** The report of doctor. */
interface Diagnosis {
  /** No problem was found. */
  readonly ok: boolean;
  readonly versions: Versions;
  readonly findings: readonly Finding[];
}

/** `doctor`. */
export const DOCTOR: AddVerb = verb({
  name: 'doctor',
  about: 'finds problems and says why they matter and what to do; exit code 3 if it finds one',
  options: [
    SPOOL,
    option('--pool <max>', "the max of your program's pool, to compare with the server's limits", MANY),
    option('--processes <number>', 'how many processes have such a pool', MANY, 1),
  ],
  run: diagnose,
  format,
  needsPerson: ({ ok }) => !ok,
});

async function diagnose(options: DoctorOptions, open: OpenOptions): Promise<Diagnosis> {
  const findings: Finding[] = [];
  let versions = OWN_VERSIONS;
  let { spool } = options;
  let files: readonly string[] = [];
  /** @param toFinding Turns the failure of a check into a finding, if the failure itself is one. */
  const check = async (
    name: string,
    toFinding: (name: string, error: unknown) => Finding,
    run: () => AsyncIterable<Finding> | Promise<unknown>,
  ): Promise<void> => {
    try {
      const running = run();
      if (Symbol.asyncIterator in running) for await (const found of running) findings.push(found);
      else await running;
    } catch (error) {
      // Wrong use is no finding.
      if (error instanceof WrongInboxError) throw error;
      findings.push(toFinding(name, error));
    }
  };
  const examine = async <Tx>(opened: OpenStore<Tx>): Promise<void> => {
    const { statements, store, settings } = opened;
    spool ??= opened.spoolPath;
    versions = { ...versions, engine: await readEngine(opened) };
    if (store.dialect === 'postgres') await check('server', uncheckable, () => checkServer(opened, options));
    await check('tables', failure, async function* () {
      versions = { ...versions, tables: await versionOf(statements) };
      yield* checkTables(versions);
    });
    if (mustChange(versions)) return;
    files = opened.files;
    await check('inbox', uncheckable, () => checkInbox(opened));
    if (!findings.some((found) => found.check === 'standby'))
      await check('callback', failure, () => tryToKeep({ statements, limitMs: KEEP_MS }, settings.account));
  };
  await check('database', failure, () => withStore(open, examine));
  if (spool !== undefined) {
    const [path, owner] = [spool, spoolOwner(open.account ?? '', placeOf(open))];
    await check('spool', failure, () => checkSpool(path, owner));
  }
  await check('files', uncheckable, () => checkFiles(files, spool));
  return { ok: findings.every(({ level }) => level === 'notice'), versions, findings };
}

function* checkTables(versions: Versions): Generator<Finding> {
  const { tables = 0 } = versions;
  const state = tableState(versions);
  if (state === 'newer')
    yield notice`tables: The tables have version ${tables}, which is newer than this program.
      Old and new programs run side by side.
      ${NEXT_STEP.newer}`;
  else if (state !== 'current')
    yield problem`tables: ${state === 'none' ? 'There are no inbox tables' : `The tables have version ${tables}, which is older than this program`}.
    Until the tables match this program, no callback can be stored or applied.
    ${NEXT_STEP[state]}`;
}

/** The database failed at what a callback needs. */
function failure(check: string, error: unknown): Finding {
  const advice = adviceOn(error) ?? 'Fix what the message says, and run doctor again.';
  const seen = messageOf(error);
  const todo = error instanceof ConfigurationError ? 'Do what the message says.' : advice;
  return problem`${check}: ${seen}
    No callback can be stored here: callbacks wait in the spool, or are answered with 429, and none is applied.
    ${todo}`;
}

function uncheckable(check: string, error: unknown): Finding {
  return notice`${check}: This could not be checked: ${messageOf(error)}
    A problem here would not be found.
    Run doctor with a role that may read it, or check it by hand.`;
}

function format({ ok, versions, findings }: Diagnosis): string {
  const found = findings.map(({ check, level, seen, why, todo }) => {
    const title = coloured(level === 'problem' ? 'red' : 'yellow', `${level}: ${check}`);
    return `${title}\n${printableLines(`  Seen: ${seen}\n  Why:  ${why}\n  Do:   ${todo}`)}`;
  });
  return paragraphs(formatVersions(versions), ...found, ok ? 'No problem was found.' : '');
}
