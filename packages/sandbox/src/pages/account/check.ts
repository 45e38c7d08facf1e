import {
  age,
  badge,
  type Column,
  column,
  count,
  counted,
  html,
  list,
  type Markup,
  note,
  type Tone,
} from '@payment-service/pages';
import { checkCases } from '../../check/cases.ts';
import type { CheckResult } from '../../state/records.ts';
import { milliseconds } from '../parts/cells.ts';
import { type Example, examples } from '../parts/list.ts';
import { form, type Page } from '../parts/page.ts';

const verdicts: Readonly<Record<CheckResult['verdict'], readonly [tone: Tone, word: string]>> = {
  pass: ['good', 'Pass'],
  warn: ['wait', 'Warning'],
  fail: ['bad', 'Fail'],
};

const columns: readonly Column<CheckResult>[] = [
  column('Verdict', ['title'], ({ verdict }) => badge(...verdicts[verdict])),
  column('Case', ['title'], ({ title }) => html`<strong>${title}</strong>`),
  column('Expected', [], ({ expected }) => expected),
  column('Got', [], ({ got, status }) => (status === null ? got : html`<span class="number">${got}</span>`)),
  column('Time taken', ['number'], ({ ms }) => milliseconds(ms)),
  column('What to do', ['wide'], ({ fix }) => fix),
];

const example = (verdict: CheckResult['verdict'], title: string, expected: string, fix: string): Example => ({
  Case: title,
  Verdict: badge(...verdicts[verdict]),
  Expected: expected,
  Got: '200',
  'What to do': fix,
});
const EXAMPLES: readonly Example[] = [
  example('pass', 'A genuine callback', '2xx', ''),
  example('fail', 'Signed with another key', '400, 401 or 403', 'Verify the signature before anything else.'),
];

/** What the responses mean together, and what they cannot show. */
function summary(results: readonly CheckResult[]): Markup {
  const having = (verdict: CheckResult['verdict']): number =>
    results.filter((one) => one.verdict === verdict).length;
  const [failed, warned] = [having('fail'), having('warn')];
  if (results[0]?.status === null)
    return note('bad', 'The first callback got no answer, so the remaining cases were skipped.');
  const posted = `${count(results.length)} of ${count(checkCases.length)} cases posted`;
  if (results.length < checkCases.length) return note('info', `${posted} so far.`);
  return note(
    failed > 0 ? 'bad' : warned > 0 ? 'wait' : 'good',
    failed > 0 ? `${count(failed)} of ${count(results.length)} cases failed.` : 'No case failed.',
    `${count(having('pass'))} as expected, ${counted(warned, 'warning')}, ${count(failed)} failed.`,
    'The test sees answers, not your records: an endpoint that answers 200 to a repeat or to another amount passes even if it credits it. In your records, check that no reference that begins with CHECK- was credited twice or with a changed amount.',
  );
}

/** A button that posts genuine and wrong callbacks to an endpoint, and the table of its responses. */
export const check: Page = {
  section: 'Test endpoint',
  show(service, _, refused) {
    const { callback_url } = service.settings();
    const report = service.store.get('check', 'check');
    return {
      title: 'Test endpoint',
      says:
        report === undefined
          ? 'No test yet.'
          : `${count(report.results.length)} of ${count(checkCases.length)} cases posted, ${report.ok ? 'none' : 'some'} failed.`,
      body: html`<section class="card single" aria-labelledby="check-title"><h2 id="check-title">Does it accept genuine callbacks and refuse the others?</h2>
<p class="quiet">Posts ${checkCases.length} callbacks, one after another, with references that begin with CHECK-. No money moves in the sandbox.</p>
${form('check', 'check', refused, {
  fields: ({ field }) =>
    html`${field({ name: 'callback_url', label: 'Callback URL', type: 'url', value: report?.url ?? callback_url ?? '', hint: 'Such as http://127.0.0.1:3000/payments/callbacks.' })}`,
  button: 'Test it',
  kind: 'main',
})}</section>
${
  report === undefined
    ? examples('The answers will appear here, case by case. For example:', EXAMPLES)
    : html`<section class="stack" id="report" aria-labelledby="report-title"><div class="head"><h2 id="report-title">Answers from <code>${report.url}</code></h2><span class="quiet">${age(report.at, service.clock.now())}</span></div>
${summary(report.results)}
${list('cases', columns, report.results)}</section>`
}`,
    };
  },
  forms: {
    check: async ({ callback_url }, service) => {
      await service.check({ callback_url });
      return { said: "Tested: the endpoint's answers are below.", to: '/check#report' };
    },
  },
};
