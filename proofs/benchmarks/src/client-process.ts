/** Runs the callers of client-callers.ts in their own process; argv has the project and the address of the service. */

import { answerQuestions } from '@payment-service/durability';
import { createCallers } from './client-callers.ts';

export interface CallQuestion {
  /** Of the caller. */
  readonly name: string;
  readonly concurrency: number;
  readonly calls: number;
}

export interface CallSample {
  /** From the first call to the last response, divided by the number of calls. */
  readonly micros: number;
  /** Processor time of the caller. */
  readonly cpuMicros: number;
}

const [, , project = '', baseUrl = ''] = process.argv;
const callers = await createCallers(project, baseUrl);

answerQuestions(async ({ name, concurrency, calls }: CallQuestion): Promise<CallSample> => {
  const caller = callers.find((one) => one.name === name);
  if (caller === undefined) throw new TypeError(`There is no caller ${name}.`);
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  let left = calls;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left-- > 0) await caller.list();
    }),
  );
  const [elapsed, { user, system }] = [performance.now() - started, process.cpuUsage(cpu)];
  return { micros: (elapsed * 1000) / calls, cpuMicros: (user + system) / calls };
});
