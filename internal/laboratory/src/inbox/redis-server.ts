import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { installed } from '../measure/installed.ts';

export interface RedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts the installed Redis on 127.0.0.1 with every write on disk before it is answered.
 *
 * @param folder for its append-only file.
 * @returns a sentence that says how to get Redis, where it is not installed.
 */
export async function startRedis(folder: string, port: number): Promise<RedisServer | string> {
  const missing = installed('redis-server');
  if (missing !== undefined) return missing;
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  for (let attempt = 0; !(await answers(port)); attempt++) {
    if (attempt === 100 || server.exitCode !== null)
      throw new Error('redis-server was started and does not answer.');
    await wait(50);
  }
  const configured = spawnSync('redis-cli', ['-p', String(port), 'config', 'get', 'append*'], {
    encoding: 'utf8',
  });
  if (!/appendfsync\s+always/.test(configured.stdout) || !/appendonly\s+yes/.test(configured.stdout)) {
    await end(server);
    throw new Error('This redis-server does not take appendonly yes and appendfsync always.');
  }
  return { port, stop: () => end(server) };
}

async function end(server: ChildProcess): Promise<void> {
  const exited = once(server, 'exit');
  server.kill('SIGTERM');
  await exited;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => socket.write('PING\r\n'));
    socket.on('data', (data) => {
      socket.destroy();
      resolve(data.toString().startsWith('+PONG'));
    });
    socket.on('error', () => resolve(false));
  });
}
