import { expect, test } from 'vitest';
import type { HostileServer } from './hostile-host.ts';
import { judgeServer } from './judge-server.ts';
import { brokenBounds, resistAttacks } from './resist.ts';

// For hundreds of requests and millions of bytes, on a busy machine.
const TIMEOUT = { timeout: 240_000 };

/**
 * Sends every hostile request to one server, and every heavy attack at its smaller size. `program` mounts the adapter with
 * `serveHostile()` under this name.
 */
export function testHostility(name: HostileServer['name'], program: URL): void {
  test(
    `threat A18: ${name}: each hostile request gets the verdict that it gets everywhere`,
    TIMEOUT,
    async () => {
      const { judged, sockets, streams } = await judgeServer({ name, program });
      expect(judged.length).toBeGreaterThanOrEqual(400);
      expect(judged.filter(({ verdict, expected }) => verdict !== expected)).toEqual([]);
      expect([sockets, streams]).toEqual([0, 0]);
    },
  );

  test(
    `threat A18: ${name}: heavy hostile requests take less than 20 MB, and leave no socket and no stream`,
    TIMEOUT,
    async () => {
      const resisted = await resistAttacks({ name, program }, { isFull: false, patienceSeconds: 60 });
      expect(resisted.length).toBeGreaterThanOrEqual(12);
      for (const one of resisted)
        expect([one.attack, one.otherAnswers, brokenBounds(one)]).toEqual([one.attack, 0, []]);
    },
  );
}
