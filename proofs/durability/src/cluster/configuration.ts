/** The configuration of the cluster, as docs/inbox-operations.md shows it. Patroni reads YAML, and so JSON. */

/** The ports of one node. Connections from other nodes lead through a link, which can be cut. */
export interface NodePorts {
  readonly name: string;
  readonly rest: number;
  readonly postgres: number;
  readonly restThroughLink: number;
  readonly postgresThroughLink: number;
  /** The addresses of all etcd members, through this node's own links. */
  readonly etcdThroughLinks: readonly number[];
}

export interface ClusterOptions {
  readonly isSynchronous: boolean;
  readonly password: string;
}

const HOST = '127.0.0.1';
/** In seconds. A leader that is silent for longer than `ttl` is replaced; it must be at least loop_wait + 2 * retry_timeout. */
export const TIMES = { ttl: 30, loop_wait: 7, retry_timeout: 11 };
/** Over TCP with the password only; there is no access through the local socket. */
const PG_HBA = ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'];

export function patroniYml(
  ports: NodePorts,
  { isSynchronous, password }: ClusterOptions,
  where: { readonly data: string; readonly programs: string },
): string {
  const account = (username: string): object => ({ username, password });
  return JSON.stringify(
    {
      scope: 'shop',
      name: ports.name,
      restapi: { listen: `${HOST}:${ports.rest}`, connect_address: `${HOST}:${ports.restThroughLink}` },
      // Not etcd3: with Patroni 3.0.2, the leader can then fail to record the synchronous standby after some failovers.
      etcd: { hosts: ports.etcdThroughLinks.map((port) => `${HOST}:${port}`), use_proxies: true },
      bootstrap: {
        dcs: {
          ...TIMES,
          // With a synchronous standby, no candidate lags behind; in the control a lagging one must be allowed to lead.
          maximum_lag_on_failover: 1024 ** 3,
          synchronous_mode: isSynchronous,
          // Without a standby nothing commits, so that replication is never asynchronous.
          synchronous_mode_strict: isSynchronous,
          postgresql: {
            use_pg_rewind: true,
            parameters: { synchronous_commit: 'on', max_connections: 200, unix_socket_directories: '' },
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
      },
      postgresql: {
        listen: `${HOST}:${ports.postgres}`,
        connect_address: `${HOST}:${ports.postgresThroughLink}`,
        data_dir: where.data,
        bin_dir: where.programs,
        pgpass: `${where.data}.pgpass`,
        pg_hba: PG_HBA,
        authentication: { superuser: account('postgres'), replication: account('replicator') },
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    },
    null,
    2,
  );
}

/** One port, which leads to whichever node Patroni calls the primary. Connections to a node that no longer leads are ended. */
export function haproxyCfg(port: number, nodes: readonly NodePorts[]): string {
  const servers = nodes.map(
    ({ name, postgres, rest }) => `  server ${name} ${HOST}:${postgres} check port ${rest}`,
  );
  return `global
  maxconn 300
defaults
  mode tcp
  retries 2
  timeout connect 4s
  timeout client 30m
  timeout server 30m
  timeout check 3s
listen primary
  bind ${HOST}:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 3 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}

export function etcdFlags(
  member: number,
  folder: string,
  ports: readonly { readonly client: number; readonly peer: number }[],
): readonly string[] {
  const url = (port: number | undefined): string => `http://${HOST}:${port}`;
  const { client, peer } = ports[member] ?? {};
  return Object.entries({
    name: `etcd${member}`,
    'data-dir': folder,
    'listen-client-urls': url(client),
    'advertise-client-urls': url(client),
    'listen-peer-urls': url(peer),
    'initial-advertise-peer-urls': url(peer),
    'initial-cluster': ports.map((one, index) => `etcd${index}=${url(one.peer)}`).join(','),
    // Ten times the defaults, for a busy machine.
    'heartbeat-interval': '500',
    'election-timeout': '5000',
    'enable-v2': 'true',
  }).map(([flag, value]) => `--${flag}=${value}`);
}
