/**
 * Loaded before one of the merchant's programs: the clock of every SQLite file that it opens is ahead by the number in a file.
 */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const path = process.env['CRASH_TEST_CLOCK'] ?? '';
const stepped = new WeakSet<DatabaseSync>();
const { exec, prepare } = DatabaseSync.prototype;

function step(file: DatabaseSync): void {
  if (stepped.has(file)) return;
  stepped.add(file);
  const now = (): number => (Date.now() + Number(readFileSync(path, 'utf8'))) / 1000;
  file.function('unixepoch', { varargs: true }, now);
}

DatabaseSync.prototype.exec = function (sql): void {
  step(this);
  exec.call(this, sql);
};
DatabaseSync.prototype.prepare = function (...call): ReturnType<typeof prepare> {
  step(this);
  return prepare.apply(this, call);
};
