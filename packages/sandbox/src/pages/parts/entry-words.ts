/** What the ledger's own names are in sentences. */
export const causes = {
  collection: 'Credit of a collection',
  payout: 'Taken for a payout',
  payout_returned: 'Returned, because a payout failed',
  transfer: 'Transferred',
  deposit: 'Deposited',
  clearing: 'Became available',
};
export const buckets = { available: 'available', uncleared: 'uncleared', reserve: 'rolling reserve' };
export const wallets = { MERCHANT_COLLECTION: 'collection wallet', MERCHANT_PAYOUT: 'payout wallet' };
