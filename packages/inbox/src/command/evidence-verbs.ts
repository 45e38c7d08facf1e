import { Argument, InvalidArgumentError } from 'commander';
import type { PruneOptions } from '../operator/prune.ts';
import {
  listTransitions,
  showTransition,
  type TransitionDetails,
  type TransitionSummary,
} from '../operator/reports.ts';
import type { ListOptions } from '../operator/search.ts';
import { TRANSITION_STATES } from '../states.ts';
import { BODY_WORDS, wordsOf } from '../words.ts';
import { paragraphs, table } from './format.ts';
import { NoInboxError, withInbox, withTables } from './open-inbox.ts';
import { type AddVerb, named, option, PAGE, upTo, verb } from './verbs.ts';

/** What `prune` removes: the option of the API, its flag, its description and its default in days. */
const AGES: readonly (readonly [keyof PruneOptions, flag: string, about: string, preset?: number])[] = [
  ['bodiesOlderThanDays', 'bodies', 'the content of bodies, counted from their last delivery', 90],
  ['waitingBodiesOlderThanDays', 'waiting-bodies', 'the same for reports that wait for a person', 365],
  ['archiveOlderThanDays', 'archive', 'archives reports that were applied or are out of date'],
];

/** `reports`, `report` and `prune`: what the service has sent. */
export const EVIDENCE: readonly AddVerb[] = [
  verb({
    name: 'reports',
    about: "lists the service's reports, the evidence behind payments, newest first",
    options: [
      option('--state <state>', 'in this state').choices(TRANSITION_STATES),
      option('--reason <reason>', 'with this reason, such as amount_mismatch'),
      named('merchant_reference', option('--reference <string>', 'with exactly this merchant_reference')),
      named(
        'internal_reference',
        option('--internal-reference <string>', 'with exactly this internal_reference'),
      ),
      option('--after <id>', 'the page after this report', id),
      ...PAGE,
    ],
    run: (given: ListOptions, open) => withTables(open, (opened) => listTransitions(opened, given)),
    format: (reports) => formatReports(reports) || 'No reports.',
  }),
  verb({
    name: 'report',
    about: 'shows everything kept about one report',
    argument: new Argument('<id>', 'the id of the report').argParser(id),
    options: [option('--bodies', 'also print its bodies, which contain personal data')],
    run: async (own: { bodies?: true }, open, transitionId = '') => {
      const found = await withTables(open, (opened) => showTransition(opened, transitionId));
      if (found === undefined) throw new NoInboxError('No report of this account has this id.');
      const bodies = found.bodies.map((body) => ({ ...body, ...(own.bodies ? {} : { text: undefined }) }));
      return { ...found, bodies };
    },
    format: (report) => formatReport(report),
  }),
  verb({
    name: 'prune',
    about: 'removes the content of old bodies and old errors, and archives old reports on request',
    options: AGES.map(([name, flag, about, preset]) =>
      named(name, option(`--${flag}-older-than <days>`, about, upTo(100_000), preset)),
    ),
    run: (ages: PruneOptions, open) => withInbox(open, (inbox) => inbox.prune(ages)),
    format: ({ bodies, archived }) =>
      `The content of ${bodies} bodies was removed, and ${archived} reports were archived.`,
  }),
];

function id(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("An id must have 64 lower-case hexadecimal digits; 'reports' prints it.");
}

export const formatReports = (reports: readonly TransitionSummary[]): string =>
  table(
    ['state', 'reason', 'reference', 'transaction', 'status', 'changed', 'id'],
    reports.map(({ state, reason, isArchived, signed, changedAt, transitionId }) => [
      ...[state, reason ?? (isArchived ? 'in the archive' : ''), signed.merchant_reference],
      ...[signed.internal_reference, signed.transaction_status, changedAt.toISOString(), transitionId],
    ]),
  );

export function formatReport(report: TransitionDetails): string {
  const { heading, meaning } = wordsOf(report);
  return paragraphs(
    table(undefined, fieldsOf({ means: `${heading}. ${meaning}`, ...report })),
    report.bodies.some(({ isSealed }) => isSealed) ? BODY_WORDS.sealed : '',
    report.bodies.some(({ isUnsealed }) => isUnsealed) ? BODY_WORDS.unsealed : '',
  );
}

/** Every member, under the name that programs read. */
function fieldsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (value === undefined) return [];
  if (value instanceof Date) return [[path.join('.'), value.toISOString()]];
  if (typeof value !== 'object' || value === null) return [[path.join('.'), String(value)]];
  return Object.entries(value).flatMap(([name, each]) => fieldsOf(each, [...path, name]));
}
