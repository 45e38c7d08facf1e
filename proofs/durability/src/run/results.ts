import { FAULTS, type Fault, type Verdict } from '../history/judge-history.ts';
import { judge, type Result } from '../measure/results.ts';
import { figure, type Table } from '../measure/tables.ts';
import type { Outcome } from './run.ts';

/** Every fault, none of which a run may have. @param least the minimum number of due payments. */
export function verdictResults(verdict: Verdict, least: number): readonly Result[] {
  const faults = Object.entries(FAULTS).map(([fault, name]) =>
    judge(name, 'faults', verdict.faults[fault as Fault].length, 'exactly', 0),
  );
  return [
    judge('payments due', 'payments', verdict.due, 'at least', least),
    judge('payments applied exactly once', 'payments', verdict.appliedOnce, 'exactly', verdict.due),
    ...faults,
  ];
}

/** For a control: it must show this fault, since a checker that finds none proves nothing. */
export function caughtResult(control: string, { faults }: Verdict, fault: Fault): Result {
  return judge(`control, ${control}: ${FAULTS[fault]}`, 'faults', faults[fault].length, 'at least', 1);
}

/** For a report: the figures, and for each fault its count and the first cases by name. */
export function toldVerdict({ faults, ...figures }: Verdict): Readonly<Record<string, unknown>> {
  const found = Object.entries(faults).filter(([, all]) => all.length > 0);
  const named = found.map(([fault, all]) => [fault, { count: all.length, first: all.slice(0, 5) }]);
  return { ...figures, faults: Object.fromEntries(named) };
}

export function verdictTable({ verdict, payments, crashLooped, states }: Outcome): Table {
  const counts = {
    requests: verdict.requests,
    'acknowledged, repetitions included': verdict.acknowledgements,
    'answered as repetitions': verdict.repetitions,
    'refused, as forged': verdict.refusals,
    'without an answer that promises something': verdict.unanswered,
    'distinct bodies acknowledged': verdict.bodies,
    'payments due': verdict.due,
    'applied exactly once': verdict.appliedOnce,
    'payments sent': payments,
    'sent back after three dead handlers': crashLooped,
    ...Object.fromEntries(Object.entries(states).map(([name, count]) => [`state ${name}`, count])),
  };
  return {
    title: 'The history, and what became of it',
    head: ['', 'count', ''],
    rows: Object.entries(counts).map(([name, count]) => [name, figure(count), '']),
  };
}
