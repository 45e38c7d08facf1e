/**
 * `pnpm lab canary [--report path]`: three keys, a phone number and a name go through everything that logs, throws, inspects,
 * serialises, renders, stores or exports, in every package and in the sample shop. The table in docs/how-we-know.md lists the
 * places that show the person deliberately, and every other place shows no secret: if a place shows more, it leaks; if it shows
 * less, its entry is wrong.
 *
 * The table is also the control: the person in a database or on a support page, and an error planted here with the keys, must be
 * found there.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFlags, runProgram } from '@payment-service/durability/measure/program.ts';
import { judge } from '@payment-service/durability/measure/results.ts';
import { corePlaces } from './core-places.ts';
import { merchantPlaces } from './merchant-places.ts';
import { sandboxPlaces } from './sandbox-places.ts';
import { type Places, printedBy, SECRETS, secretsIn } from './secrets.ts';
import { shopPlaces } from './shop-places.ts';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/how-we-know.md');
const CONTROL = 'control: a printed error';

/** Why a place shows the person, by its name: the rows of the document whose first cell names places. */
function readReasons(): Map<string, string> {
  const [, section = ''] = readFileSync(DOCUMENT, 'utf8').split('\n## Canaries\n');
  const rows = (section.split('\n## ')[0] ?? '').matchAll(/^\| (`.*`) \| (.*) \|$/gm);
  return new Map(
    [...rows].flatMap(([, names = '', why = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, place = '']) => [place, why] as const),
    ),
  );
}

await runProgram({ name: 'canary', ...readFlags({}) }, async () => {
  const places: Places = {
    ...{ ...(await corePlaces()), ...(await merchantPlaces()) },
    ...{ ...(await sandboxPlaces()), ...(await shopPlaces()) },
  };
  places[CONTROL] = await printedBy(async () => {
    console.error(new Error('planted', { cause: SECRETS }));
  });
  const reasons = readReasons();
  const found = Object.entries(places).map(([place, shown]) => {
    const isControl = place === CONTROL;
    const why = isControl ? 'planted, with the keys' : reasons.get(place);
    const person = why === undefined ? [] : ['phone', 'name'];
    const named = isControl ? Object.keys(SECRETS) : person;
    return { place, characters: shown.length, shows: secretsIn(shown), named, why };
  });
  const unknown = [...reasons.keys()].filter((place) => !Object.hasOwn(places, place));
  const wrong = found.flatMap(({ place, shows, named }) =>
    Object.keys(SECRETS)
      .filter((secret) => shows.includes(secret) !== named.includes(secret))
      .map((secret) => `${place}: ${secret}, ${shows.includes(secret) ? 'leaked' : 'named, but not shown'}`),
  );
  for (const one of wrong) console.log(one);
  for (const one of unknown) console.log(`${one}: listed in docs/how-we-know.md, but there is no such place`);
  const empty = found.filter(({ characters }) => characters === 0).length;
  const shown = found.filter(({ shows }) => shows.length > 0);
  const results = [
    judge('places', 'places', found.length, 'at least', 60),
    judge('places without content', 'places', empty, 'exactly', 0),
    judge('places listed that do not exist', 'places', unknown.length, 'exactly', 0),
    judge('secrets shown where none is listed, or the reverse', 'secrets', wrong.length, 'exactly', 0),
  ];
  const rows = shown.map(({ place, shows, why }) => [place, shows.join(', '), why ?? '']);
  const table = { title: 'What shows a secret on purpose', head: ['place', 'shows', 'why'], rows };
  return { results, tables: [table], found };
});
