import type { PublishedCore } from './contenders.ts';

/** What the bodies contain: the contract's 16 fields, or those and many others. */
export const SIZES = ['typical', '60 KiB'] as const;
export type Size = (typeof SIZES)[number];

const LONGEST = 60 * 1024;
/** Enough that no contender gets the same text twice in a row, and few enough for the processor's cache. */
const COUNT = 64;

/** Bodies of callbacks as compact JSON, equally long, with different references. */
export function callbackBodies(
  size: Size,
  { sampleCallback }: Pick<PublishedCore, 'sampleCallback'>,
): Buffer[] {
  return Array.from({ length: COUNT }, (_, index) => {
    const number = 48_213_700 + index;
    const { event, payload } = sampleCallback({
      payload: {
        id: number,
        merchant_reference: `ORD-2026-${number}`,
        internal_reference: `INT-7F3A9C21-${number}`,
        request_amount: 125_000,
        transaction_amount: 125_000,
        transaction_charge: 3_750,
        total_credit: 121_250,
      },
    });
    if (size === 'typical') return encode({ event, payload });
    return encode({ event, payload: lengthened(event, payload) });
  });
}

/** Fields that are not in the contract, up to 60 KiB; the receiver accepts 64. */
function lengthened(event: string, payload: object): object {
  const line = { sku: 'SKU-000001', title: 'One of many things in a basket', quantity: 2, price: 1250.5 };
  const room = LONGEST - encode({ event, payload: { ...payload, line_items: [], rest: '' } }).length;
  const lines = Math.floor(room / (JSON.stringify(line).length + 1));
  const rest = room - lines * (JSON.stringify(line).length + 1) + 1;
  return { ...payload, line_items: Array.from({ length: lines }, () => line), rest: 'x'.repeat(rest) };
}

function encode(callback: object): Buffer {
  return Buffer.from(JSON.stringify(callback));
}
