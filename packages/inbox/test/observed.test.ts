import { describe, expect, it, onTestFinished } from 'vitest';
import { observed } from '../src/observed.ts';
import { pause } from './support/until.ts';

const same = (value: unknown): unknown => value;

describe('a promise that somebody may forget', () => {
  it.each<[string, (promise: Promise<number>) => unknown]>([
    ['await', async (promise) => await promise],
    ['then()', (promise) => promise.then(same)],
    ['catch()', (promise) => promise.catch(same)],
    ['finally()', (promise) => promise.finally(() => undefined)],
    ['Promise.all()', (promise) => Promise.all([promise])],
    ['resolving another', (promise) => new Promise((resolve) => resolve(promise))],
  ])('%s listens to it, and gets what it gives', async (_name, listen) => {
    let isHeard = false;
    const promise = observed(Promise.resolve(7), () => {
      isHeard = true;
    });
    expect(isHeard).toBe(false);
    expect(promise).toBeInstanceOf(Promise);
    expect([await listen(promise)].flat()).toEqual([7]);
    expect(isHeard).toBe(true);
  });

  it('a rejection reaches who listens, at once or later, and nobody else', async () => {
    const seen: unknown[] = [];
    const listener = (reason: unknown): unknown => seen.push(reason);
    process.on('unhandledRejection', listener);
    onTestFinished(() => void process.removeListener('unhandledRejection', listener));
    let isHeard = false;
    const promise = observed(Promise.reject(new Error('no')), () => {
      isHeard = true;
    });
    await pause(1);
    expect({ seen, isHeard }).toEqual({ seen: [], isHeard: false });
    await expect(promise).rejects.toThrow('no');
  });
});
