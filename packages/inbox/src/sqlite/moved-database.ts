/**
 * The file that is open is no longer the one at its path: somebody has removed, moved or replaced it. SQLite would go on
 * writing to what nobody finds any more.
 */
export class MovedDatabase extends Error {
  /** SQLITE_READONLY_DBMOVED, SQLite's own code for this. */
  readonly errcode = 1032;

  constructor() {
    super(
      'The SQLite database file was removed, moved or replaced while the inbox had it open, so nothing more is written to ' +
        'it. Put the file back together with its -wal, or end the program and start it again.',
    );
    this.name = 'MovedDatabase';
  }
}
