/** Serializes a query; undefined filters are left out. Sorted, so that it is the same text for the same query. */
export function serializeQuery(query: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) params.append(name, String(value));
  }
  params.sort();
  return params.toString();
}
