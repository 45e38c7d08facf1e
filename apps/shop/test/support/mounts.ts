/** What the test and its child processes share. */
export const CONSOLE = '/admin/payments';
export const CALLBACKS = '/payments/callbacks';
export const ACCOUNT = {
  publicKey: 'PUBLIC-KEY-OF-A-TEST',
  secretKey: 'SECRET-KEY-OF-A-TEST',
  signingKey: 'SIGNINGKEYOFATEST00',
};
