/** A bundle contains the code of the package but not the file of its thread, as with Next.js and other bundlers. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsdown';
import { expect, test } from 'vitest';
import config from '../../tsdown.config.ts';
import { startChild } from '../support/child-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { filesIn } from '../support/test-spool.ts';

const PROGRAM = 'bundled.ts';

test.each(['esm', 'cjs'] as const)(
  'in a %s bundle, ready() and receive() name the setting, and nothing is acknowledged or spooled',
  async (format) => {
    const folder = temporaryFolder();
    await build({
      ...{ config: false, entry: { bundled: `test/support/programs/${PROGRAM}` }, outDir: folder, format },
      ...{ platform: 'node', dts: false, clean: false, logLevel: 'silent', fixedExtension: true },
      // Includes the SQL, as in the package itself.
      plugins: config[0]?.plugins,
      deps: { alwaysBundle: [/./] },
    });
    const bundle = join(folder, format === 'esm' ? 'bundled.mjs' : 'bundled.cjs');
    const path = join(folder, 'x.db');
    const { output } = await startChild(bundle, [path]).ended;
    const setting = /ConfigurationError: .*serverExternalPackages: \['@payment-service\/inbox'\].*external/;
    const [ready = '', received = '', health] = output.split('\n').filter((line) => /^\w+ /.test(line));
    expect(ready).toMatch(/^ready ConfigurationError/);
    expect(ready).toMatch(setting);
    expect(received).toMatch(/^receive ConfigurationError/);
    expect(received).toMatch(setting);
    expect(health).toBe('health store_unavailable');
    expect(existsSync(path)).toBe(false);
    expect(filesIn(`${path}-spool`)).toEqual([]);
  },
);

test('the same program, not bundled, keeps the callback (control)', async () => {
  const path = join(temporaryFolder(), 'x.db');
  const { output } = await startChild(PROGRAM, [path]).ended;
  expect(output).toBe('ready ok\nreceive ok\nhealth \n');
});
