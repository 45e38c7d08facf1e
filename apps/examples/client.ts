/** Reads the reference data: `BASE_URL=… PUBLIC_KEY=… SECRET_KEY=… node client.ts`. */
import { ApiError, createClient, eligibleProviders } from '@payment-service/core/client';

const client = createClient({
  baseUrl: process.env.BASE_URL,
  publicKey: process.env.PUBLIC_KEY,
  secretKey: process.env.SECRET_KEY, // For the balances only, and sent with nothing else.
});

try {
  const providers = await client.listPaymentProviders({ currency: 'UGX' });
  const { eligible, ineligible } = eligibleProviders(providers, {
    account: '+256 772 000001',
    amount: '1500',
  });
  for (const { provider, kind, account } of eligible)
    console.log('pay with', provider.provider_name, kind, account); // The account to send: 256772000001.
  for (const { reasons } of ineligible)
    console.log('not eligible:', reasons.map(({ message }) => message).join(' '));

  const transfers = providers.find(({ transaction_method }) => transaction_method === 'BANK');
  if (transfers) {
    const banks = await client.listPayoutBanks({ provider_code: transfers.provider_code });
    for (const { bank_code, bank_name } of banks) console.log('bank', bank_code, bank_name);
  }

  const wallets = await client.getWalletBalances({ currency: 'UGX' });
  for (const { wallet_type, exact, currency } of wallets)
    console.log(wallet_type, exact.available_balance, currency); // A string: a number is exact only to 15 digits.
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.error(error.status, error.serviceMessage);
  process.exitCode = 1;
}
