import { randomBytes } from 'node:crypto';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@payment-service/servers/postgres';
import { withClient } from '../load/postgres.ts';
import { Daemon } from '../measure/daemon.ts';
import { atTheEnd, makeFolder } from '../measure/program.ts';
import { until } from '../measure/until.ts';
import { etcdFlags, haproxyCfg } from './configuration.ts';
import { ClusterNode } from './node.ts';
import type { Programs } from './programs.ts';

/** The longest that the cluster may take for anything. */
const PATIENCE = { withinMs: 300_000, everyMs: 250 };

const SHOP = 'shop';

interface Member {
  readonly name: string;
  readonly role: string;
}

/** Three members of etcd, three nodes with Patroni and PostgreSQL, and HAProxy, all on loopback. */
export class Cluster {
  /** The address of the primary through HAProxy, for the superuser. */
  readonly adminUrl: string;
  readonly #programs: { check(): void }[] = [];
  readonly #nodes: ClusterNode[] = [];
  readonly #isSynchronous: boolean;

  private constructor(adminUrl: string, isSynchronous: boolean) {
    this.adminUrl = adminUrl;
    this.#isSynchronous = isSynchronous;
  }

  static async start(programs: Programs, isSynchronous: boolean, ttl: number): Promise<Cluster> {
    const { paths, user } = programs;
    const folder = await makeFolder();
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const options = { isSynchronous, ttl, password: randomBytes(12).toString('hex') };
    const port = await freePort();
    const url = `postgres://postgres:${options.password}@127.0.0.1:${port}/postgres`;
    const cluster = new Cluster(url, isSynchronous);
    const run = (name: 'etcd' | 'haproxy', args: readonly string[], log: string): void => {
      const daemon = new Daemon(paths[name], args, { log: join(folder, log), ...user, cwd: folder });
      cluster.#programs.push(daemon);
      atTheEnd(() => daemon.kill());
    };
    const etcd = [];
    for (let member = 0; member < 3; member++)
      etcd.push({ client: await freePort(), peer: await freePort() });
    for (const member of etcd.keys()) {
      const data = join(folder, `etcd${member}`);
      await mkdir(data, { mode: 0o700 });
      if (user !== undefined) await chown(data, user.uid, user.gid);
      run('etcd', etcdFlags(member, data, etcd), `etcd${member}.log`);
    }
    const clients = etcd.map(({ client }) => client);
    for (const client of clients) await cluster.#found('a version of etcd', () => isDecided(client));
    for (const name of ['a', 'b', 'c']) {
      const node = await ClusterNode.create(name, clients, { programs, folder }, options);
      atTheEnd(() => node.stop());
      cluster.#nodes.push(node);
    }
    const configuration = join(folder, 'haproxy.cfg');
    const ports = cluster.#nodes.map((node) => node.ports);
    await writeFile(configuration, haproxyCfg(port, ports));
    run('haproxy', ['-db', '-f', configuration], 'haproxy.log');
    for (const node of cluster.#nodes) node.start();
    cluster.#programs.push(...cluster.#nodes);
    await cluster.whole();
    await withClient(url, async (client) => {
      await client.query(`create role ${SHOP} login password '${SHOP}'`);
      await client.query(`grant create on database postgres to ${SHOP}`);
      await client.query(`grant create on schema public to ${SHOP}`);
    });
    return cluster;
  }

  /**
   * The address for the merchant's programs: its role is not a superuser, so the reserved connections stay free for Patroni.
   */
  get url(): string {
    const own = new URL(this.adminUrl);
    [own.username, own.password] = [SHOP, SHOP];
    return own.href;
  }

  /** @throws {Error} if one of the programs has ended. */
  check(): void {
    for (const one of this.#programs) one.check();
  }

  /** The node that leads. @param others excludes this node. */
  async leader(others?: ClusterNode): Promise<ClusterNode> {
    return this.#found('a leader', async () => {
      const name = (await this.#members(others)).find(({ role }) => role === 'leader')?.name;
      return name === others?.ports.name ? undefined : this.#nodes.find(({ ports }) => ports.name === name);
    });
  }

  /** Resolves when two standbys are streaming, one of which is the synchronous standby. */
  async whole(): Promise<void> {
    await this.#found('two standbys', async () => {
      const members = await this.#members(undefined);
      const standbys = members.filter(({ role }) => role !== 'leader').map(({ role }) => role);
      const hasSynchronous = !this.#isSynchronous || standbys.includes('sync_standby');
      if (standbys.length !== 2 || !hasSynchronous) return undefined;
      const streaming = "select 1 from pg_stat_replication where state = 'streaming'";
      const { rowCount } = await withClient(this.adminUrl, (client) => client.query(streaming));
      return rowCount === 2 ? true : undefined;
    });
  }

  /** @throws {Error} if nothing is found in time, or if one of the programs has ended. */
  #found<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    const checked = (): Promise<T | undefined> => {
      this.check();
      return look().catch(() => undefined);
    };
    return until(what, checked, PATIENCE);
  }

  /** The members as the nodes see them; the struck node is not asked. */
  async #members(struck: ClusterNode | undefined): Promise<readonly Member[]> {
    const asked = this.#nodes.filter((node) => node !== struck);
    return Promise.any(
      asked.map(async ({ ports }) => {
        const { members } = await answerOf<{ members?: readonly Member[] }>(ports.rest, '/cluster');
        if (members === undefined) throw new Error('Patroni does not know its members yet.');
        return members;
      }),
    );
  }
}

/** If started earlier, Patroni 3.0 exits, because the members have not agreed on a version yet. */
async function isDecided(client: number): Promise<true | undefined> {
  const { etcdcluster } = await answerOf<{ etcdcluster: string }>(client, '/version');
  return etcdcluster === 'not_decided' ? undefined : true;
}

async function answerOf<T>(port: number, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3000) });
  return (await response.json()) as T;
}
