import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { childrenOf, freePort, signalProcess, stopProcess } from '@payment-service/servers/postgres';
import { Link } from '../load/link.ts';
import { Daemon } from '../measure/daemon.ts';
import { type ClusterOptions, type NodePorts, patroniYml } from './configuration.ts';
import type { Programs } from './programs.ts';

interface Where {
  readonly programs: Programs;
  readonly folder: string;
}

const MAX_RESTARTS = 20;

/** One machine of the cluster: Patroni and its PostgreSQL, and the network between it and the others. */
export class ClusterNode {
  readonly ports: NodePorts;
  readonly #where: Where;
  readonly #links: readonly Link[];
  #patroni: Daemon | undefined;
  #paused: readonly number[] = [];
  #restarts = 0;
  /** The fault that has struck it: killed, paused or cut off. */
  fault: string | undefined;

  /** @param links the one to PostgreSQL is first. */
  private constructor(ports: NodePorts, where: Where, links: readonly Link[]) {
    this.ports = ports;
    this.#where = where;
    this.#links = links;
  }

  static async create(
    name: string,
    etcd: readonly number[],
    where: Where,
    options: ClusterOptions,
  ): Promise<ClusterNode> {
    const [rest, postgres] = [await freePort(), await freePort()];
    const links = await Promise.all([postgres, rest, ...etcd].map((port) => Link.open(port)));
    const [postgresThroughLink = 0, restThroughLink = 0, ...etcdThroughLinks] = links.map(({ port }) => port);
    const ports = { name, rest, postgres, restThroughLink, postgresThroughLink, etcdThroughLinks };
    const node = new ClusterNode(ports, where, links);
    const { data, configuration } = node.#files;
    const places = { data, programs: dirname(where.programs.paths.pg_controldata) };
    await writeFile(configuration, patroniYml(ports, options, places));
    return node;
  }

  start(): void {
    const { folder: cwd, programs } = this.#where;
    const { paths, user } = programs;
    const log = join(cwd, `${this.ports.name}.log`);
    this.#patroni = new Daemon(paths.patroni, [this.#files.configuration], { log, ...user, cwd });
  }

  /** Starts Patroni again if it has ended, as a service manager would. @throws {Error} if that does not help. */
  check(): void {
    if (this.fault === 'killed' || this.#patroni?.hasEnded !== true) return;
    this.#restarts += 1;
    if (this.#restarts > MAX_RESTARTS) this.#patroni.check();
    this.start();
  }

  async strike(fault: string): Promise<void> {
    this.fault = fault;
    if (fault === 'killed') await this.kill();
    if (fault === 'paused') {
      // Like a paused virtual machine: none of its processes notices, and all of them continue.
      const postmaster = await this.#postmaster();
      this.#paused = [this.#patroni?.pid ?? 0, postmaster];
      for (const pid of this.#paused) await stopProcess(pid);
      const children = await childrenOf(postmaster);
      for (const pid of children) signalProcess(pid, 'SIGSTOP');
      this.#paused = [...this.#paused, ...children];
    }
    if (fault === 'cut off') for (const link of this.#links) link.hold();
  }

  async heal(): Promise<void> {
    for (const pid of this.#paused) signalProcess(pid, 'SIGCONT');
    this.#paused = [];
    // The connections of a paused node outlive the pause, as those of a virtual machine do.
    if (this.fault !== 'paused') for (const link of this.#links) link.reconnect();
    if (this.fault === 'killed') this.start();
    this.fault = undefined;
  }

  /** The standbys receive nothing from now on, but Patroni has not noticed yet. */
  holdReplication(): void {
    this.#links[0]?.hold();
  }

  async stop(): Promise<void> {
    await this.kill();
    await Promise.all(this.#links.map((link) => link.close()));
  }

  /** Patroni first, since it would restart the server. Then all processes of the server together. */
  async kill(): Promise<void> {
    await this.#patroni?.kill();
    const postmaster = await this.#postmaster().catch(() => undefined);
    if (postmaster === undefined) return;
    await stopProcess(postmaster);
    const children = await childrenOf(postmaster);
    for (const pid of [postmaster, ...children]) signalProcess(pid, 'SIGKILL');
  }

  get #files(): { readonly data: string; readonly configuration: string } {
    const base = join(this.#where.folder, this.ports.name);
    return { data: `${base}-data`, configuration: `${base}.yml` };
  }

  /** @throws {Error} if no server runs here. */
  async #postmaster(): Promise<number> {
    const [pid] = (await readFile(join(this.#files.data, 'postmaster.pid'), 'utf8')).split('\n');
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    // After a crash the file may be stale, and its id may belong to another program.
    if (!command.includes(this.#files.data)) throw new Error('The server has ended.');
    return Number(pid);
  }
}
