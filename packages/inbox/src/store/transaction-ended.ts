/** The body of a transaction has ended it, so its effects may be committed even though the body or the transaction failed. */
export class TransactionEnded extends Error {
  override readonly name = 'TransactionEnded';
  readonly code = 'TRANSACTION_ENDED';

  constructor(options?: ErrorOptions) {
    const message =
      'This transaction was ended by the handler that runs in it, so its effects may be committed. Leave COMMIT and ROLLBACK ' +
      'to the inbox: to roll back, throw.';
    super(message, options);
  }
}
