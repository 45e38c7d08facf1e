/**
 * `pnpm smoke`: builds and packs the packages, installs the tarballs with npm into an empty project, as a user does, and runs there
 * the smoke programs and both commands. CI runs it on macOS and Windows, where the other tests of this package do not run.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../../../../vitest.shared.ts';
import { packPublished } from './pack-published.ts';

const own = join(import.meta.dirname, '..', '..');
const isWindows = process.platform === 'win32';
const PROGRAMS = ['smoke.ts', 'sandbox-smoke.ts', 'inbox-smoke.ts'];
const FRAMEWORKS = ['@hono/node-server', 'express', 'fastify', 'koa'];
/** Ends after the first callback, so that the command ends with its exit code. */
const MERCHANT = `import { paymentCallbacks } from '@payment-service/express';
import express from 'express';
const callbacks = paymentCallbacks({
  signingKey: process.env.SIGNING_KEY,
  onCallback: ({ signed }) => {
    console.log(signed.merchant_reference, signed.transaction_status);
    setTimeout(() => process.exit(signed.merchant_reference === 'ORD-1001' ? 0 : 1), 200);
  },
});
express().use('/payments/callbacks', callbacks).listen(Number(process.env.PORT), '127.0.0.1');
`;

// A path with a space, as home folders may have on Windows.
const project = mkdtempSync(join(tmpdir(), 'smoke installed-'));
try {
  await packPublished(join(project, 'tarballs'));
  const scripts = { dev: 'node merchant.mjs' };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true, scripts }));
  writeFileSync(join(project, 'merchant.mjs'), MERCHANT);
  cpSync(join(own, 'smoke'), project, { recursive: true });
  const tarballs = globSync('tarballs/*.tgz', { cwd: project }).map(
    (path) => `./${path.replaceAll('\\', '/')}`,
  );
  run('npm', ['install', '--no-audit', '--no-fund', ...tarballs, ...FRAMEWORKS]);
  const vectors = resolve(own, '../../openapi/signature-vectors.json');
  for (const program of PROGRAMS)
    run(process.execPath, ['--disable-warning=ExperimentalWarning', program, vectors]);
  for (const command of ['payment-service-sandbox', 'payment-service-inbox']) run('npx', [command, '--help']);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/payments/callbacks`;
  const args = ['--memory', '--port', '0', '--callback-url', url, '--', 'npm', 'run', 'dev'];
  // Not through npx, so that the command itself must find npm.
  const command = join(project, 'node_modules/@payment-service/sandbox/dist/command.js');
  run(process.execPath, [command, ...args], { ...process.env, PORT: String(port) });
  console.log(`What users install works on ${process.platform} with Node ${process.versions.node}.`);
} finally {
  rmSync(project, { recursive: true, force: true, maxRetries: 20 });
}

function run(command: string, args: readonly string[], env = process.env): void {
  // npm and npx are .cmd files on Windows, which need a shell; nothing here needs quoting.
  const shell = isWindows && command !== process.execPath;
  execFileSync(command, args, { cwd: project, env, stdio: 'inherit', shell, timeout: 300_000 });
}
