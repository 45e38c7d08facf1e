/**
 * `pnpm bench`: body and header to a verified event, beside peers. Prints tables, writes reports/bench.json, and ends
 * with 1 where a target is missed.
 *
 * --short runs a few milliseconds of everything: it shows that the controls bite and what the report looks like, and
 * its figures are noise, so no target is held against them. --report names another file.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { callbackBodies, SIZES, type Size } from './callback-bodies.ts';
import { checkControls } from './check-controls.ts';
import {
  type Contender,
  floor,
  octokit,
  paymentService,
  recipe,
  standardWebhooks,
  stripe,
  svix,
} from './contenders.ts';
import { judge, type Result } from './judge.ts';
import { measure } from './measure.ts';
import { printMeasurements, printResults } from './print-tables.ts';
import { type PublishedCore, publishedCore } from './published-core.ts';
import { type Measurement, summarise } from './summarise.ts';
import { TARGETS } from './targets.ts';

const SIGNING_KEY = 'mK7pQ2vX9sLd4TzR8wYb3NcJ6hGf1EaU';
const ANOTHER_KEY = 'tF5uW0nB7yHq3ZkV9xGc2LmS8jDa4RpE';
const FULL = { sliceMs: 25, warmUpMs: 500, rounds: 100 };
const SHORT = { sliceMs: 1, warmUpMs: 1, rounds: 3 };

const { values: flags } = parseArgs({
  options: { short: { type: 'boolean', default: false }, report: { type: 'string' } },
});
const report = flags.report ?? join(import.meta.dirname, '..', '..', 'reports', 'bench.json');
const folder = await mkdtemp(join(tmpdir(), 'payment-service-bench-'));
try {
  const { node, portable } = await publishedCore(folder);
  await bench(node, portable);
} finally {
  await rm(folder, { recursive: true });
}

async function bench(node: PublishedCore, portable: PublishedCore): Promise<void> {
  console.log(
    `Node ${process.version}, ${availableParallelism()} cores; core on ${node.digestName}, portable on ${portable.digestName}`,
  );
  const results: Result[] = [];
  const measurements: Measurement[] = [];
  for (const size of SIZES) {
    const bodies = callbackBodies(size, node);
    const contenders = contendersFor(size, SIGNING_KEY, node, portable);
    const strangers = contendersFor(size, ANOTHER_KEY, node, portable);
    const [first = Buffer.alloc(0)] = bodies;
    for (const [index, contender] of contenders.entries())
      await checkControls(contender, strangers[index] ?? contender, first);
    const base = floor(SIGNING_KEY);
    const pace = { ...(flags.short ? SHORT : FULL), random: Math.random };
    const samples = await measure([base, ...contenders], bodies, pace);
    results.push(...TARGETS.filter((target) => target.size === size).map((target) => judge(target, samples)));
    const rows = summarise(size, first.length, base, samples);
    measurements.push(...rows);
    printMeasurements(rows);
  }
  printResults(results);
  await mkdir(dirname(report), { recursive: true });
  const environment = { node: process.version, platform: process.platform, cores: availableParallelism() };
  const content = {
    name: 'bench',
    date: new Date().toISOString(),
    isShort: flags.short,
    environment,
    results,
    measurements,
  };
  await writeFile(report, `${JSON.stringify(content, null, 2)}\n`);
  console.log(`\nWritten to ${relative(process.cwd(), report)}.`);
  if (flags.short) console.log('A short run: its figures are noise, and no target is held against them.');
  else if (results.some(({ met }) => !met)) process.exitCode = 1;
}

function contendersFor(
  size: Size,
  signingKey: string,
  node: PublishedCore,
  portable: PublishedCore,
): readonly Contender[] {
  const two = [paymentService('core', signingKey, node), stripe(signingKey)];
  if (size !== 'typical') return two;
  return [
    ...two,
    paymentService('portable', signingKey, portable),
    standardWebhooks(signingKey),
    svix(signingKey),
    octokit(signingKey),
    recipe(signingKey, node),
  ];
}
