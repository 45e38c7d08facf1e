import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '@payment-service/postgres-server';
import { Daemon, installed } from '../measure/daemon.ts';
import { atTheEnd } from '../measure/program.ts';
import { until } from '../measure/until.ts';

/**
 * Starts the installed Redis on 127.0.0.1 with every write on disk before it is answered; it ends with the run.
 *
 * @param folder for its append-only file.
 * @returns its port, or a sentence that says how to get Redis, where it is not installed.
 */
export async function startRedis(folder: string): Promise<number | string> {
  const missing = installed('redis-server');
  if (missing !== undefined) return missing;
  const port = await freePort();
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...durable];
  const server = new Daemon('redis-server', args, { log: join(folder, 'redis.log'), cwd: folder });
  atTheEnd(() => server.kill());
  const ask = ['-p', String(port), 'config', 'get', 'append*'];
  const configured = await until('an answer of redis-server', () => {
    server.check();
    const { status, stdout } = spawnSync('redis-cli', ask, { encoding: 'utf8' });
    return status === 0 ? stdout : undefined;
  });
  if (!/appendfsync\s+always/.test(configured) || !/appendonly\s+yes/.test(configured))
    throw new Error('This redis-server does not take appendonly yes and appendfsync always.');
  return port;
}
