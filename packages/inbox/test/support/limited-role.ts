import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';

/** A pool of a role that has these rights on the tables of a schema, all but the excepted one, and may create nothing. */
export async function limitedRole(schema: string, rights: string, except?: string): Promise<pg.PoolConfig> {
  const role = `limited_${randomBytes(6).toString('hex')}`;
  const url = new URL(inject('postgresUrl'));
  const admin = new pg.Pool({ connectionString: url.href, max: 2 });
  await admin.query(
    `create role ${role} login password 'limited';
     grant usage on schema ${schema} to ${role};
     grant ${rights} on all tables in schema ${schema} to ${role};
     ${except === undefined ? '' : `revoke ${except} from ${role}`}`,
  );
  [url.username, url.password] = [role, 'limited'];
  onTestFinished(async () => {
    await admin.query(`drop owned by ${role}; drop role ${role}`);
    await admin.end();
  });
  return { connectionString: url.href };
}
