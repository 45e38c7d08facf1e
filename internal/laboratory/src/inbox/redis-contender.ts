import { Queue } from 'bullmq';
import type { Contender, Engines } from './contender.ts';

export async function bullmq({ redisPort }: Engines): Promise<Contender> {
  if (redisPort === undefined) throw new Error('BullMQ needs a Redis server.');
  const queue = new Queue('callbacks', { connection: { host: '127.0.0.1', port: redisPort } });
  await queue.waitUntilReady();
  return {
    keep: ({ signed, raw }) => queue.add('callback', { signed, body: raw }),
    count: () => queue.getWaitingCount(),
    close: () => queue.close(),
  };
}
