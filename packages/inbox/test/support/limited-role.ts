import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';

/** A pool of a role that has these rights on the tables of a schema, and may create nothing. */
export async function limitedRole(
  schema: string,
  rights: string,
): Promise<{ readonly pool: pg.Pool; readonly admin: pg.Pool; readonly role: string }> {
  const role = `limited_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Pool({ connectionString: inject('postgresUrl'), max: 2 });
  await admin.query(
    `create role ${role} login password 'limited';
     grant usage on schema ${schema} to ${role};
     grant ${rights} on all tables in schema ${schema} to ${role}`,
  );
  const url = new URL(inject('postgresUrl'));
  url.username = role;
  url.password = 'limited';
  const pool = new pg.Pool({ connectionString: url.href });
  onTestFinished(async () => {
    await pool.end();
    await admin.query(`drop owned by ${role}; drop role ${role}`);
    await admin.end();
  });
  return { pool, admin, role };
}
