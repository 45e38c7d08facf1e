/**
 * `pnpm lab canary [--report path]`: three keys, a phone number and a name go through everything that logs, throws, inspects,
 * serialises, renders, stores or exports, in every package. Each place must show exactly the secrets that NAMED lists for it:
 * if it shows more, it leaks; if it shows less, its entry is wrong.
 *
 * NAMED is also the control: the secrets shown by a database, a support page or an error planted here must be found there.
 */
import { readFlags, runProgram } from '@payment-service/durability/measure/program.ts';
import { judge } from '@payment-service/durability/measure/results.ts';
import { corePlaces } from './core-places.ts';
import { merchantPlaces } from './merchant-places.ts';
import { sandboxPlaces } from './sandbox-places.ts';
import { type Places, printedBy, SECRETS, secretsIn } from './secrets.ts';

/** The places that show the person deliberately; every other place shows no secret. */
const NAMED: readonly (readonly [place: RegExp, why: string])[] = [
  [/^control: a printed error/, 'planted, with the keys, as the control'],
  [/^core: the error of a (401|500)/, "quotes the service's own error, without keys"],
  [/^full, inbox: the database$/, 'stores whole bodies, unless an option says otherwise'],
  [/^(full|encrypted), console with bodies: .transitions.ID$/, 'shows bodies to those who may see them'],
  [/^full, command: show ID --bodies/, 'prints bodies on request'],
  [/^sandbox: (deliveries|page .deliveries.1|page .transactions.1001)/, 'shows simulated callbacks'],
];

await runProgram({ name: 'canary', ...readFlags({}) }, async () => {
  const places: Places = { ...(await corePlaces()), ...(await merchantPlaces()), ...(await sandboxPlaces()) };
  places['control: a printed error'] = await printedBy(async () => {
    console.error(new Error('planted', { cause: SECRETS }));
  });
  const found = Object.entries(places).map(([place, shown]) => {
    const why = NAMED.find(([pattern]) => pattern.test(place))?.[1];
    const named =
      why === undefined ? [] : place.startsWith('control') ? Object.keys(SECRETS) : ['phone', 'name'];
    return { place, characters: shown.length, shows: secretsIn(shown), named, why };
  });
  const wrong = found.flatMap(({ place, shows, named }) =>
    Object.keys(SECRETS)
      .filter((secret) => shows.includes(secret) !== named.includes(secret))
      .map((secret) => `${place}: ${secret}, ${shows.includes(secret) ? 'leaked' : 'named, but not shown'}`),
  );
  for (const one of wrong) console.log(one);
  const empty = found.filter(({ characters }) => characters === 0).length;
  const shown = found.filter(({ shows }) => shows.length > 0);
  const results = [
    judge('places', 'places', found.length, 'at least', 60),
    judge('places without content', 'places', empty, 'exactly', 0),
    judge('secrets shown where none is named, or the reverse', 'secrets', wrong.length, 'exactly', 0),
  ];
  const rows = shown.map(({ place, shows, why }) => [place, shows.join(', '), why ?? '']);
  const table = { title: 'What shows a secret on purpose', head: ['place', 'shows', 'why'], rows };
  return { results, tables: [table], found };
});
