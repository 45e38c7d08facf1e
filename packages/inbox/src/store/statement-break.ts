/**
 * Between two statements that SQLite runs one after the other, in one message to its thread; PostgreSQL runs them as one
 * statement. No text of a merchant contains it.
 */
export const STATEMENT_BREAK = '/* payment_inbox: and then */';
