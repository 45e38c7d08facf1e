/** The labels that each metric of a Prometheus text page has, by its name. */
function labelsOnPage(page: string): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  const metrics = new Map<string, Map<string, Set<string>>>();
  for (const line of page.split('\n')) {
    const [, name, labels = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = metrics.get(name) ?? new Map<string, Set<string>>();
    metrics.set(name, known);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      known.set(label, (known.get(label) ?? new Set()).add(value));
  }
  return metrics;
}

/** What an expression of PromQL asks of the page, one line for each metric, label and value. */
export function missingOnPage(expression: string, page: string): string[] {
  const metrics = labelsOnPage(page);
  const groups = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/, ?/),
  );
  const rest = expression.replaceAll(/ ?\bby \([^)]*\) ?/g, '').replaceAll(/\[[^\]]*\]/g, '');
  // A name before a parenthesis is a function.
  const selectors = [...rest.matchAll(/\b([a-z_]\w*)\b(?!\()(?:\{([^}]*)\})?/g)];
  return selectors.flatMap(([, name = '', matchers = '']) => {
    const labels = metrics.get(name);
    if (labels === undefined) return [`metric ${name}`];
    const asked = [...matchers.matchAll(/(\w+)=~?"([^"]*)"/g)];
    const values = asked.flatMap(([, label = '', value = '']) =>
      value
        .split('|')
        .flatMap((each) => (labels.get(label)?.has(each) ? [] : [`${name}{${label}="${each}"}`])),
    );
    const names = groups.filter((label) => !labels.has(label)).map((label) => `${name} by ${label}`);
    return [...values, ...names];
  });
}
