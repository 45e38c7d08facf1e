import type { ExactWallet, PaymentProvider, PayoutBank, Wallet } from '../../src/client/client.ts';

/** Literal wire data in the form of protocol §2.2 to §2.4. */
export const provider: PaymentProvider = {
  provider_name: 'Example Mobile Money',
  provider_code: 'example_mobile_money',
  transaction_method: 'MOBILE_MONEY',
  transaction_method_name: 'Mobile Money',
  transaction_type: 'Collection',
  transaction_currency: 'UGX',
  min_amount: 500,
  max_amount: 5000000,
  max_daily_amount: 20000000,
  is_active: true,
  option_prefixes: ['25677', '25678'],
};

export const bank: PayoutBank = { bank_code: 'EX001', bank_name: 'Example Bank', is_active: true };

export const wallet: Wallet = {
  currency: 'UGX',
  wallet_type: 'MERCHANT_COLLECTION',
  available_balance: 120000,
  actual_balance: 150000,
  uncleared_balance: 20000,
  reserve_balance: 10000,
};

/** The wallet as the client returns it. */
export const exactWallet: ExactWallet = {
  ...wallet,
  exact: {
    available_balance: '120000',
    actual_balance: '150000',
    uncleared_balance: '20000',
    reserve_balance: '10000',
  },
};

export const publicKey = 'pk_live_4f9c1/a+b=';
export const secretKey = 'sk_live_9d2e7&<c%\\';
