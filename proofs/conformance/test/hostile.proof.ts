import { expect, test } from 'vitest';
import { ATTACKS } from '../src/hostile/attacks.ts';
import { hosted } from '../src/hostile/hostile-host.ts';
import { type Resisted, resist } from '../src/hostile/resist.ts';
import { testHostility } from '../src/index.ts';

const program = new URL('lenient-server.ts', import.meta.url);
const naive = new URL('../src/hostile/naive-server.ts', import.meta.url);

testHostility('node:http', program);

/** With an attack of this name on a new server, which has little time to answer. */
async function attacked(server: string, program: URL, name: string): Promise<Resisted['brokenBounds']> {
  const attack = ATTACKS.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`There is no attack "${name}".`);
  const resisted = await hosted(server, program, (host) => resist(host, attack, 1));
  return resisted?.brokenBounds ?? [];
}

test.each(ATTACKS)(
  'control: a receiver that collects bodies breaks a bound under $name',
  async ({ name }) => {
    const broken = await attacked('naive', naive, name);
    expect(broken).not.toEqual([]);
    expect(broken.some((bound) => bound.includes('processed pieces'))).toBe(name.includes('pieces'));
  },
);

test('control: streams stay open where an adapter hides the version of HTTP (threat A43)', async () => {
  expect(await attacked('hides HTTP/2', program, 'streams left open')).toContain('100 streams left');
});
