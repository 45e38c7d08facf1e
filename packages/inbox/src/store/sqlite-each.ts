/**
 * In place of the rows that PostgreSQL reads from JSON: SQLite runs the statement for each of them, which is faster. What
 * follows a semicolon runs for those of which the statement before gave a row. No text of a merchant contains it.
 */
export const EACH = '(select 1 /* payment_inbox: for each */)';
