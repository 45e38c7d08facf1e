import { randomBytes } from 'node:crypto';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '@payment-service/servers/postgres';
import type { Read } from '../history/remains.ts';
import { Daemon } from '../measure/daemon.ts';
import { monotonicMs } from '../measure/measure.ts';
import { atTheEnd, makeFolder } from '../measure/program.ts';
import { until } from '../measure/until.ts';
import { type Database, type Replicated, reader } from '../topology/topology.ts';
import { etcdFlags, haproxyCfg } from './configuration.ts';
import { ClusterNode } from './node.ts';
import type { Programs } from './programs.ts';

/** The longest time that the cluster may take for one step. */
const PATIENCE = { withinMs: 300_000, everyMs: 250 };
const SHOP = 'shop';
/** How long a node is paused or cut off: at least this long, and until another node leads. */
const PAUSE_MS = 60_000;

interface Member {
  readonly name: string;
  readonly role: string;
}

/** Three members of etcd, three nodes with Patroni and PostgreSQL, and HAProxy, all on loopback. */
export class Cluster implements Replicated {
  /** Through HAProxy. Its role is not a superuser, so the reserved connections stay free for Patroni. */
  readonly database: Database;
  readonly read: Read;
  readonly faults: readonly string[] = ['killed', 'paused', 'cut off'];
  readonly #isSynchronous: boolean;
  readonly #programs: { check(): void }[] = [];
  readonly #nodes: ClusterNode[] = [];
  #leader: ClusterNode | undefined;
  #struckAt = 0;

  private constructor(url: string, isSynchronous: boolean) {
    this.#isSynchronous = isSynchronous;
    this.read = reader(url);
    const own = new URL(url);
    [own.username, own.password] = [SHOP, SHOP];
    this.database = { store: 'postgres', url: own.href };
  }

  static async start(programs: Programs, isSynchronous: boolean): Promise<Cluster> {
    const { paths, user } = programs;
    const folder = await makeFolder();
    const options = { isSynchronous, password: randomBytes(12).toString('hex') };
    const port = await freePort();
    const url = `postgres://postgres:${options.password}@127.0.0.1:${port}/postgres`;
    const cluster = new Cluster(url, isSynchronous);
    const own = async (path: string): Promise<void> => user && chown(path, user.uid, user.gid);
    await own(folder);
    const run = (name: 'etcd' | 'haproxy', args: readonly string[]): void => {
      const daemon = new Daemon(paths[name], args, {
        log: join(folder, `${name}.log`),
        ...user,
        cwd: folder,
      });
      cluster.#programs.push(daemon);
      atTheEnd(() => daemon.kill());
    };
    const etcd = [];
    for (let member = 0; member < 3; member++)
      etcd.push({ client: await freePort(), peer: await freePort() });
    for (const member of etcd.keys()) {
      const data = join(folder, `etcd${member}`);
      await mkdir(data, { mode: 0o700 });
      await own(data);
      run('etcd', etcdFlags(member, data, etcd));
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
    run('haproxy', ['-db', '-f', configuration]);
    for (const node of cluster.#nodes) node.start();
    cluster.#programs.push(...cluster.#nodes);
    await cluster.whole();
    await cluster.read(`create role ${SHOP} login password '${SHOP}';
      grant create on database postgres to ${SHOP}; grant create on schema public to ${SHOP}`);
    return cluster;
  }

  /** @throws {Error} if one of the programs has ended. */
  check(): void {
    for (const one of this.#programs) one.check();
  }

  holdReplication(): void {
    this.#leader?.holdReplication();
  }

  async strike(fault: string): Promise<number> {
    const struck = this.#leader;
    await struck?.strike(fault);
    this.#struckAt = monotonicMs();
    await this.#found('another leader', () => this.#findLeader(struck));
    return this.#struckAt;
  }

  async heal(): Promise<void> {
    const struck = this.#nodes.find(({ fault }) => fault !== undefined);
    // The fault ends regardless of the other nodes, as with networks and virtual machines; and a rewind may need the node itself.
    if (struck?.fault !== 'killed') await wait(Math.max(0, this.#struckAt + PAUSE_MS - monotonicMs()));
    await struck?.heal();
  }

  /** The node that leads. @param others excludes this node. */
  async #findLeader(others?: ClusterNode): Promise<ClusterNode | undefined> {
    const name = (await this.#members(others)).find(({ role }) => role === 'leader')?.name;
    return this.#nodes.find((node) => node !== others && node.ports.name === name);
  }

  /** Resolves when one node leads and two standbys are streaming, one of which is the synchronous standby. */
  async whole(): Promise<void> {
    await this.#found('two standbys', async () => {
      this.#leader = await this.#findLeader();
      const members = await this.#members();
      const standbys = members.filter(({ role }) => role !== 'leader').map(({ role }) => role);
      const hasSynchronous = !this.#isSynchronous || standbys.includes('sync_standby');
      if (this.#leader === undefined || standbys.length !== 2 || !hasSynchronous) return undefined;
      const streaming = await this.read("select 1 from pg_stat_replication where state = 'streaming'");
      return streaming.length === 2;
    });
  }

  /** @throws {Error} if nothing is found in time, or if one of the programs has ended. */
  async #found(what: string, look: () => Promise<unknown>): Promise<void> {
    const checked = async (): Promise<boolean> => {
      this.check();
      return Boolean(await look().catch(() => undefined));
    };
    await until(what, checked, PATIENCE);
  }

  /** The members as the nodes see them. @param struck is not asked. */
  async #members(struck?: ClusterNode): Promise<readonly Member[]> {
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
async function isDecided(client: number): Promise<boolean> {
  const { etcdcluster } = await answerOf<{ etcdcluster: string }>(client, '/version');
  return etcdcluster !== 'not_decided';
}

async function answerOf<T>(port: number, path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(3000) });
  return (await response.json()) as T;
}
