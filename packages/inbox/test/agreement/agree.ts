import { type EngineName, newMerchant } from '../support/merchant.ts';
import { historyOf } from './history.ts';
import { playOrders } from './order.ts';
import { playHistory } from './play.ts';

/** The first seed of a run, which it prints: AGREEMENT_SEED repeats it, with AGREEMENT=1 only its first history. */
export const FIRST_SEED: number = Number(process.env['AGREEMENT_SEED'] ?? Math.floor(Date.now() % 2 ** 31));
export const countOf = (usual: number): number => Number(process.env['AGREEMENT'] ?? usual);

/** @returns what is wrong in up to three of the histories. */
export async function playAgreement(
  engine: EngineName,
  what: 'histories' | 'orders',
  count: number,
): Promise<string> {
  console.log(`AGREEMENT=${count} AGREEMENT_SEED=${FIRST_SEED} on ${engine}`);
  const merchant = await newMerchant(engine);
  const store = merchant.newStore();
  const wrong: string[] = [];
  const seeds = Array.from({ length: count }, (_, index) => FIRST_SEED + index).values();
  const playSome = async (): Promise<void> => {
    for (const seed of seeds) {
      const play =
        what === 'histories'
          ? playHistory(merchant, store, historyOf(seed))
          : playOrders(merchant, store, seed);
      wrong.push(...(await play));
      if (wrong.length > 2) return;
    }
  };
  // Each has an account of its own. SQLite has one writer.
  await Promise.all(Array.from({ length: engine === 'postgres' ? 4 : 1 }, playSome));
  return wrong.join('\n');
}
