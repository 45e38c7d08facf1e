import type { CodeBlock } from '../../src/extracted.ts';

const IMPORT = /^import \{ createInbox, sqlite \} from '@payment-service\/inbox';$/m;
const SQL = /(?<=')(?:create|insert|update|select|delete) [^'\n]*(?=')/g;

/** A script of the guide with a PostgreSQL pool, at DATABASE_URL, instead of its SQLite file. */
export function onPostgres<T extends CodeBlock>(script: T): T {
  if (!IMPORT.test(script.code) || !script.code.includes("sqlite('shop.db')"))
    throw new Error(`${script.source}: it does not keep its inbox in shop.db`);
  const code = script.code
    .replace(
      IMPORT,
      "import { createInbox, postgres } from '@payment-service/inbox';\nimport pg from 'pg';\n" +
        'const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 5 });',
    )
    .replace("sqlite('shop.db')", 'postgres(pool)')
    .replace(SQL, numbered);
  return { ...script, code: `${code}await pool.end();\n` };
}

/** `$1`, `$2` in place of `?`. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}
