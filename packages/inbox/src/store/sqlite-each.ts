/** SQLite runs a statement with this for each record, and what follows a semicolon for those that gave a row. */
export const EACH = '(select 1 /* payment_inbox: for each */)';
