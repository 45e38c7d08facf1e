import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { within } from '../../src/time.ts';

const ECHO = "require('node:worker_threads').parentPort.on('message', function(m) { this.postMessage(m); })";

it('a time limit takes an answer that came in time to a process that stood still until after the limit', async () => {
  const other = new Worker(ECHO, { eval: true });
  onTestFinished(async () => void (await other.terminate()));
  await once(other, 'online');
  const answer = once(other, 'message');
  other.postMessage('question');
  const limited = within(50, answer);
  // After this, the next that the event loop looks at are the timers.
  await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  // The timer is due now, and the answer has arrived; neither was seen.
  expect(await limited).toEqual(['question']);
});
