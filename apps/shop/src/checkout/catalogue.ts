import type { Money } from '../books/money.ts';

export type Picture = 'basket' | 'book' | 'coffee' | 'lamp' | 'sticker' | 'tea';

export interface Product {
  /** Letters, digits and hyphens: it names a cookie. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly price: Money;
  readonly picture: Picture;
}

/** What the shop sells. The sticker costs less than any provider takes: buying one shows a refusal. */
export const catalogue: readonly Product[] = [
  {
    id: 'coffee',
    name: 'Coffee beans, 500 g',
    description: 'Washed arabica from the slopes of the mountain, roasted this week.',
    price: { currency: 'UGX', amount: '18000' },
    picture: 'coffee',
  },
  {
    id: 'basket',
    name: 'Reed basket',
    description: 'Woven by hand, wide enough for the market.',
    price: { currency: 'UGX', amount: '45000' },
    picture: 'basket',
  },
  {
    id: 'lamp',
    name: 'Solar lamp',
    description: 'Eight hours of light from one day of sun.',
    price: { currency: 'UGX', amount: '120000' },
    picture: 'lamp',
  },
  {
    id: 'tea',
    name: 'Highland tea, 250 g',
    description: 'Loose black tea, picked above the clouds.',
    price: { currency: 'KES', amount: '450' },
    picture: 'tea',
  },
  {
    id: 'cookbook',
    name: 'Cookbook, to download',
    description: 'Forty recipes for one pot. Paid by card.',
    price: { currency: 'USD', amount: '12.50' },
    picture: 'book',
  },
  {
    id: 'sticker',
    name: 'Sticker',
    description: 'So small a price that no provider takes it. Try to buy just one.',
    price: { currency: 'UGX', amount: '300' },
    picture: 'sticker',
  },
];
