import { parser } from '@prometheus-io/lezer-promql';
import type { Sample } from './metrics-page.ts';

type Tree = ReturnType<typeof parser.parse>;
type Node = Tree['topNode'];

/** A part of an expression, by the grammar of Prometheus. */
interface Part {
  readonly name: string;
  readonly text: string;
  readonly parts: readonly Part[];
}

/** Throws for what is not PromQL. Grafana writes the time range of a panel into `$__rate_interval`. */
function parse(expression: string): Part {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const read = (node: Node): Part => {
    if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${expression}`);
    const parts: Part[] = [];
    for (let child = node.firstChild; child !== null; child = child.nextSibling) parts.push(read(child));
    return { name: node.name, text: text.slice(node.from, node.to), parts };
  };
  return read(parser.parse(text).topNode);
}

/** All parts with these names, including nested ones. */
function within(part: Part, name: string): readonly Part[] {
  return [...(part.name === name ? [part] : []), ...part.parts.flatMap((one) => within(one, name))];
}

const textIn = (part: Part, name: string): string => within(part, name)[0]?.text ?? '';
/** The labels of `by (…)` of an aggregation itself. */
const groupsOf = ({ parts }: Part): readonly string[] =>
  parts
    .filter(({ name }) => name === 'AggregateModifier')
    .flatMap((modifier) => within(modifier, 'LabelName'))
    .map(({ text }) => text);

interface Matcher {
  readonly label: string;
  readonly isRegex: boolean;
  readonly value: string;
}

function matchersOf(selector: Part): readonly Matcher[] {
  return within(selector, 'UnquotedLabelMatcher').map((matcher) => {
    const operator = textIn(matcher, 'MatchOp');
    if (operator !== '=' && operator !== '=~') throw new Error(`not read here: ${matcher.text}`);
    const value = textIn(matcher, 'StringLiteral').slice(1, -1);
    return { label: textIn(matcher, 'LabelName'), isRegex: operator === '=~', value };
  });
}

/** What an expression requests but a page lacks: each metric, label and value. Throws for what is not PromQL. */
export function missingOnPage(expression: string, samples: readonly Sample[]): readonly string[] {
  const search = (part: Part, outer: readonly string[]): readonly string[] => {
    const groups = [...outer, ...groupsOf(part)];
    if (part.name !== 'VectorSelector') return part.parts.flatMap((one) => search(one, groups));
    const metric = textIn(part, 'Identifier');
    const series = samples.filter(({ name }) => name === metric);
    if (series.length === 0) return [`metric ${metric}`];
    const values = matchersOf(part).flatMap(({ label, value }) =>
      value
        .split('|')
        .filter((each) => series.every(({ labels }) => labels[label] !== each))
        .map((each) => `${metric}{${label}="${each}"}`),
    );
    const names = groups.filter((label) => series.every(({ labels }) => labels[label] === undefined));
    return [...values, ...names.map((label) => `${metric} by ${label}`)];
  };
  return search(parse(expression), []);
}

/**
 * The labels that a template names, such as `{{outcome}}` or `{{ $labels.outcome }}`, but the result of the expression lacks.
 */
export function missingInResult(expression: string, template: string): readonly string[] {
  const [outermost] = within(parse(expression), 'AggregateExpr');
  const kept = outermost === undefined ? [] : groupsOf(outermost);
  const named = [...template.matchAll(/\{\{ ?(?:\$labels\.)?([a-z]\w*) ?\}\}/g)].map(
    ([, label = '']) => label,
  );
  return named.filter((label) => !kept.includes(label));
}

/** Two scrapes of a page. */
export interface Scrapes {
  readonly before: readonly Sample[];
  readonly after: readonly Sample[];
}

type Series = Omit<Sample, 'name'>;

/**
 * The value of an expression after the second scrape, for the part of PromQL that the alerts use. An increase is the difference
 * between the two scrapes; Prometheus extrapolates it to the whole range.
 */
export function evaluate(expression: string, scrapes: Scrapes): readonly Series[] {
  const [top] = parse(expression).parts;
  if (top === undefined) throw new Error('an empty expression');
  return valuesOf(top, scrapes);
}

function valuesOf(part: Part, scrapes: Scrapes): readonly Series[] {
  const { name, text, parts } = part;
  if (name === 'NumberDurationLiteral') return [{ labels: {}, value: Number(text) }];
  if (name === 'VectorSelector') return selected(part, scrapes.after);
  const [argument] = parts.find((one) => one.name === 'FunctionCallBody')?.parts ?? [];
  if (name === 'FunctionCall' && argument !== undefined) {
    const call = textIn(part, 'FunctionIdentifier');
    if (call === 'absent') return valuesOf(argument, scrapes).length > 0 ? [] : [{ labels: {}, value: 1 }];
    if (call === 'increase') return increase(argument, scrapes);
  }
  if (name === 'AggregateExpr' && argument !== undefined) {
    const combine = { max: Math.max, sum: (one: number, other: number) => one + other }[
      textIn(part, 'AggregateOp')
    ];
    if (combine !== undefined) return aggregate(valuesOf(argument, scrapes), groupsOf(part), combine);
  }
  const [left, operator, right] = parts;
  if (name === 'BinaryExpr' && left !== undefined && right !== undefined && operator?.name === 'Gtr') {
    const [limit] = valuesOf(right, scrapes);
    return valuesOf(left, scrapes).filter(({ value }) => value > (limit?.value ?? Number.NaN));
  }
  throw new Error(`not evaluated here: ${name} ${text}`);
}

function selected(selector: Part, samples: readonly Sample[]): readonly Sample[] {
  const metric = textIn(selector, 'Identifier');
  const matchers = matchersOf(selector);
  const isMatch = ({ labels }: Sample): boolean =>
    matchers.every(({ label, isRegex, value }) =>
      isRegex ? new RegExp(`^(?:${value})$`).test(labels[label] ?? '') : (labels[label] ?? '') === value,
    );
  return samples.filter((sample) => sample.name === metric && isMatch(sample));
}

/** Only for series in both scrapes, since Prometheus sees no increase in a new one. */
function increase(range: Part, { before, after }: Scrapes): readonly Series[] {
  const earlier = new Map(selected(range, before).map(({ labels, value }) => [keyOf(labels), value]));
  return selected(range, after).flatMap(({ labels, value }) => {
    const from = earlier.get(keyOf(labels));
    return from === undefined ? [] : [{ labels, value: value - from }];
  });
}

function aggregate(
  series: readonly Series[],
  groups: readonly string[],
  combine: (one: number, other: number) => number,
): readonly Series[] {
  const found = new Map<string, Series>();
  for (const { labels, value } of series) {
    const kept = Object.fromEntries(groups.map((label) => [label, labels[label] ?? '']));
    const known = found.get(keyOf(kept));
    found.set(keyOf(kept), { labels: kept, value: known ? combine(known.value, value) : value });
  }
  return [...found.values()];
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort());
}
