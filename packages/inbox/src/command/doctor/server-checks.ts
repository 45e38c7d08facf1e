import { type Finding, notice, problem } from '../../reporting/finding.ts';
import { readDurability } from '../../store/postgres/durability.ts';
import { numberOf, textOf } from '../../store/store.ts';
import type { OpenStore } from '../open-inbox.ts';

/** What the user states about a program, since no database knows it. */
export interface PoolSize {
  /** The `max` of its pool. */
  readonly pool?: number | undefined;
  readonly processes: number;
}

/** A server and its settings. */
export async function* checkServer<Tx>(opened: OpenStore<Tx>, size: PoolSize): AsyncGenerator<Finding> {
  const { statements, store } = opened;
  const [row = {}] = await statements.run('read_server', []);
  const [version, role] = [textOf(row, 'version'), textOf(row, 'role')];
  const [places, used, allowed] = [numberOf(row, 'places'), numberOf(row, 'used'), numberOf(row, 'allowed')];
  const durability = await readDurability((text) => store.query({ text }, []));
  const { off, encoding, commit, synchronousNames, standbys, isAsynchronous } = durability;
  const settings = off.map((name) => `${name} = on`).join(', ');
  const { pool: max, processes } = size;
  if (Number.parseInt(version, 10) < 13 || encoding !== 'UTF8')
    yield problem`engine: This is PostgreSQL ${version} with the encoding ${encoding}.
        The inbox needs version 13 or later, and UTF8, to store every body.
        Move the inbox to such a database.`;
  if (off.length > 0)
    yield problem`durability: For the role ${role}, these settings are off: ${off.join(', ')}.
        Acknowledged callbacks can be lost when the machine stops, so ready() refuses this database.
        Set ${settings} for the server, the database and the role.`;
  if (row['is_standby'] === true)
    yield problem`standby: This server is a standby.
        It accepts no callbacks and no workers. Only read-only verbs work here, such as payments, payment, counts and status.
        Connect to the primary; after a failover, correct DATABASE_URL. Promote this one only if the primary is gone.`;
  if (isAsynchronous)
    yield problem`replication: Standbys are connected (${standbys}), and no commit waits for one (synchronous_commit = ${commit}).
        If the primary is lost and a standby takes over, callbacks acknowledged shortly before are lost.
        Name a standby in synchronous_standby_names, with synchronous_commit = on.`;
  if (synchronousNames !== '' && standbys === 0 && !['off', 'local'].includes(commit))
    yield problem`replication: synchronous_standby_names is ${synchronousNames}, and no standby is connected.
        Every commit waits for one, so no callback is stored and none is applied.
        Start a standby. Remove its name only if you accept that commits can be lost with the primary.`;
  if (used >= places * 0.9)
    yield problem`connections: ${used} connections are open, and this server allows ${places}.
        A program without a connection answers callbacks with 429 or spools them, and applies nothing.
        Give pools a smaller max, end programs that are not needed, raise max_connections, or use a pooler.`;
  if (max !== undefined && max * processes > allowed)
    yield problem`pool: The pools can open ${processes} × ${max} connections, and this role gets at most ${allowed}.
        Under load a process gets no connection: callbacks are answered with 429 or spooled, and wait to be applied.
        Give each pool a smaller max, raise max_connections or the limit of the role or database, or use a pooler.`;
  if (max !== undefined && max < 3)
    yield notice`pool: A pool has a max of ${max}.
        Below 3, a worker does not listen: callbacks of other processes wait for the poll (pollMs).
        Give it 3 or more.`;
}
