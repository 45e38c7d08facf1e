import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TimedOut, within } from '../../src/time.ts';

describe('a time limit', () => {
  it('takes an answer that came in time, while the process stood still until after the limit', async () => {
    const other = new Worker(
      "require('node:worker_threads').parentPort.on('message', function(m) { this.postMessage(m); })",
      {
        eval: true,
      },
    );
    onTestFinished(async () => {
      await other.terminate();
    });
    await once(other, 'online');
    const answer = once(other, 'message');
    other.postMessage('question');
    const limited = within(50, answer);
    // After this, the next that the event loop looks at are the timers.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    // The timer is due now, and the answer has arrived; neither was seen.
    expect(await limited).toEqual(['question']);
  });

  it('ends a wait for what never comes', async () => {
    const never = new Promise<never>(() => undefined);
    await expect(within(5, never, 'Nothing came.')).rejects.toThrow(new TimedOut('Nothing came.'));
  });
});
