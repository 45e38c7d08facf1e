import type { PaymentProvider } from '../client.ts';

/** The account to send to a provider, or what is wrong with the customer's input. */
export type AccountReading =
  | { readonly account: string }
  | {
      readonly problem: 'account_invalid' | 'account_country_missing' | 'account_prefix_differs';
      readonly message: string;
    };

/** Country codes have 1 to 3 digits. */
const CODE_LENGTHS = [1, 2, 3];

/**
 * Whether a provider takes phone numbers: it is mobile money, or it lists numeric prefixes. Others take accounts of another
 * form, such as bank accounts.
 */
export function takesPhones({ transaction_method, option_prefixes }: PaymentProvider): boolean {
  const areDigits = option_prefixes.every((prefix) => /^\d+$/.test(plainPhone(prefix)));
  return areDigits && (option_prefixes.length > 0 || transaction_method === 'MOBILE_MONEY');
}

/**
 * Reads an account that a customer typed. A phone number can have any usual spelling and becomes the digits that the service
 * takes. No digit is dropped or added, except for the `00` of an international number, its `(0)`, and the leading 0 of a
 * national number. The country code of a national number comes from the prefixes, and only if exactly one gives an allowed number.
 *
 * @example
 * readAccount('0772 000 001', provider); // { account: '256772000001' } where the prefixes are 25677 and 25678
 */
export function readAccount(typed: string, provider: PaymentProvider): AccountReading {
  const { provider_name: name, option_prefixes } = provider;
  const isPhone = takesPhones(provider);
  const plain = isPhone ? plainPhone : plainAccount;
  const written = plain(typed);
  if (written === '') return { problem: 'account_invalid', message: 'The account number is missing.' };
  if (isPhone && !/^\d+$/.test(written))
    return { problem: 'account_invalid', message: 'Use only the digits 0 to 9.' };

  const prefixes = option_prefixes.map(plain);
  const isServed = (account: string): boolean => prefixes.some((prefix) => account.startsWith(prefix));
  if (prefixes.length === 0 || isServed(written)) return { account: written };
  const international = written.slice(2);
  if (isPhone && written.startsWith('00') && isServed(international)) return { account: international };

  const starts = option_prefixes.join(', ');
  const readings = isPhone && /^0[1-9]/.test(written) ? readNational(written.slice(1), prefixes) : [];
  const [account, ...others] = readings;
  if (account === undefined) {
    const message = `${name} supports only accounts that start with ${starts}.`;
    return { problem: 'account_prefix_differs', message };
  }
  if (others.length === 0) return { account };
  const message = `Replace the leading 0 with the country code. ${name} supports accounts that start with ${starts}.`;
  return { problem: 'account_country_missing', message };
}

/** The possible readings of a number, without its leading 0, under the prefixes. */
function readNational(number: string, prefixes: readonly string[]): string[] {
  const readings = new Set<string>();
  for (const prefix of prefixes) {
    // A 0 before a country code.
    if (number.startsWith(prefix)) readings.add(number);
    for (const length of CODE_LENGTHS) {
      // A prefix shorter than the code leaves digits of the code open, so it is never the only reading.
      const code = prefix.slice(0, length).padEnd(length, '?');
      if (!code.startsWith('0') && number.startsWith(prefix.slice(length))) readings.add(code + number);
    }
  }
  return [...readings];
}

/** Without white space, dashes, invisible characters and one leading plus sign; full-width characters become ASCII. */
const plainAccount = (text: string): string => withoutSpaces(text).replace(/^\+/, '');

/** Also without the brackets, dots and slashes that people write in phone numbers, and the `(0)` after a country code. */
function plainPhone(text: string): string {
  return withoutSpaces(text)
    .replace(/[[\]./\u00b7]/g, '')
    .replace(/^(\(?(?:\+|00)?\(?[1-9]\d{0,2}\)?)\(0\)/, '$1')
    .replace(/[()]/g, '')
    .replace(/^\+/, '');
}

function withoutSpaces(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\s\p{Pd}\p{Cf}\u2212]/gu, '');
}
