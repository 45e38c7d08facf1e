/**
 * `pnpm smoke`: builds and packs the packages, installs the tarballs with npm into an empty project, as a user does, and runs
 * every vector, the zod schemas, the rehearsal programs and both commands there. CI runs it on macOS and Windows, where the other
 * tests of this package do not run.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packPublished } from '@payment-service/release/toolchains';
import { freePort } from '../../../../vitest.shared.ts';
import { compile, serve, writeProject } from '../rehearsal/project.ts';
import type { Row } from '../rehearsal/rows.ts';

const own = join(import.meta.dirname, '..', '..');
const isWindows = process.platform === 'win32';
const PROGRAMS = ['express', 'fastify', 'koa', 'hono', 'inbox'].map((name) => `${name}.ts`);
const OTHERS = ['@hono/node-server', 'express', 'fastify', 'hono', 'koa', 'zod'];
const row: Row = { name: 'smoke', about: '', dependencies: [] };
/** Ends after the first callback, so that the sandbox command that starts it ends with the same exit code. */
const MERCHANT = `import { paymentCallbacks } from '@payment-service/express';
import express from 'express';
const callbacks = paymentCallbacks({
  signingKey: process.env.SIGNING_KEY,
  onCallback: ({ signed }) => {
    setTimeout(() => process.exit(signed.merchant_reference === 'ORD-1001' ? 0 : 1), 200);
  },
});
express().use('/payments/callbacks', callbacks).listen(Number(process.env.PORT), '127.0.0.1');
`;

// The path contains a space, as home folders on Windows may.
const project = mkdtempSync(join(tmpdir(), 'smoke installed-'));
try {
  await packPublished(join(project, 'tarballs'));
  await writeProject(row, {}, project, PROGRAMS);
  cpSync(join(own, 'smoke'), project, { recursive: true });
  const tarballs = globSync('tarballs/*.tgz', { cwd: project }).map(
    (path) => `./${path.replaceAll('\\', '/')}`,
  );
  run('npm', ['install', '--no-audit', '--no-fund', ...tarballs, ...OTHERS]);
  run(process.execPath, ['vectors.ts', resolve(own, '../../openapi/signature-vectors.json')]);
  run(process.execPath, ['zod.ts']);
  const tsc = createRequire(import.meta.url).resolve('typescript/package.json');
  await compile(join(tsc, '../bin/tsc'), project);
  const { resolve: find } = createRequire(join(project, 'package.json'));
  const sandboxFile = pathToFileURL(find('@payment-service/sandbox')).href;
  const { createSandbox }: typeof import('@payment-service/sandbox') = await import(sandboxFile);
  for (const program of PROGRAMS) {
    const problems = await serve({ ...row, program }, { folder: project, createSandbox }, project);
    if (problems.length > 0) throw new Error(`${program}: ${problems.join('\n')}`);
  }
  for (const command of ['payment-service-sandbox', 'payment-service-inbox']) run('npx', [command, '--help']);
  writeFileSync(join(project, 'merchant.mjs'), MERCHANT);
  run('npm', ['pkg', 'set', 'scripts.dev=node merchant.mjs']);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/payments/callbacks`;
  // Not through npx, so that the command itself must find npm.
  const command = join(project, 'node_modules/@payment-service/sandbox/dist/command.js');
  const args = ['--memory', '--port', '0', '--callback-url', url, '--', 'npm', 'run', 'dev'];
  run(process.execPath, [command, ...args], { ...process.env, PORT: String(port) });
  console.log(`The installed packages work on ${process.platform} with Node ${process.versions.node}.`);
} finally {
  rmSync(project, { recursive: true, force: true, maxRetries: 20 });
}

function run(command: string, args: readonly string[], env = process.env): void {
  // npm and npx are .cmd files on Windows, which need a shell; nothing here needs quoting.
  const shell = isWindows && command !== process.execPath;
  execFileSync(command, args, { cwd: project, env, stdio: 'inherit', shell, timeout: 300_000 });
}
