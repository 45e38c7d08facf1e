/** What the spool tells `onError`. @param failure Why the store did not accept a callback. */
export function spooledMessage(file: string, failure: string): string {
  return (
    `The database did not accept a callback (${failure}), so callbacks are kept in the file ${file} and ` +
    'acknowledged. They are stored automatically once the database accepts them. Restore it, and do not delete that file.'
  );
}

export function emptyMessage(refused: number): string {
  const except = refused === 0 ? '' : `, except ${refused} that were refused`;
  return `All callbacks from the spool are now stored in the database${except}.`;
}

export function waitsMessage(file: string): string {
  return (
    `Callbacks wait in the file ${file}, and this process cannot verify them: no route has given it signing keys. ` +
    'Spread inbox.route into paymentCallbacks() (...inbox.route) instead of passing functions that call it. They are stored ' +
    'then, or after the first callback of this process. A process without a route leaves them to one that has a route.'
  );
}

export function refusedMessage(file: string, count: number): string {
  return (
    `${count === 1 ? 'A callback' : `${count} callbacks`} in the file ${file} cannot be stored: damaged, or not verified by any ` +
    'signing key of this process. What is refused stays there with is_refused = 1, and nothing is applied from it. If a key was ' +
    'removed or is past its notAfter, add it to signingKey again and restart: what it verifies is stored then. Otherwise another ' +
    'program wrote or changed it: find out which, and ask the service for the transactions of that time.'
  );
}

export function movedMessage(file: string, count: number): string {
  return (
    `The file of the spool, ${file}, was moved, removed or replaced while ${count} acknowledged callbacks waited in it. This ` +
    'program still has it open and stores them once the database accepts them: do not end it before then. Put the file back, ' +
    'with its -wal file. Further callbacks are kept there once it is back, or once these are stored.'
  );
}

export function damagedMessage(file: string, failure: string): string {
  return (
    `The file of the spool, ${file}, is damaged (${failure}): acknowledged callbacks in it are not stored, and no further ` +
    'ones are kept there. Callbacks that the database accepts are stored as usual. Move the file away with its -wal file and ' +
    'keep both: a new one is created. Recover the callbacks with ".recover" of the program sqlite3, or ask the service for the ' +
    'transactions of that time.'
  );
}
