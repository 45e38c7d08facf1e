/**
 * Visits the members of the top-level object and of its `payload` object in JSON that JSON.parse has accepted,
 * repeated names included, which JSON.parse hides (the last one wins).
 *
 * @param visit Receives the parent object, the decoded name and the index where its value begins.
 */
export function visitMembers(
  text: string,
  visit: (parent: 'callback' | 'payload', name: string, valueStart: number) => void,
): void {
  let depth = 0;
  let topName = '';
  let isInPayload = false;
  let nameComesNext = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = stringEnd(text, at);
      if (nameComesNext) {
        const name = JSON.parse(text.slice(at, end)) as string;
        if (depth === 1) topName = name;
        visit(depth === 1 ? 'callback' : 'payload', name, valueStart(text, end));
      }
      nameComesNext = false;
      at = end - 1;
    } else if (character === '}' || character === ']') {
      depth--;
    } else if (character === '{' || character === '[' || character === ',') {
      if (character !== ',') depth++;
      if (character !== ',' && depth === 2) isInPayload = character === '{' && topName === 'payload';
      nameComesNext = depth === 1 || (depth === 2 && isInPayload);
    }
  }
}

/**
 * The index where the value of a member of `payload` begins: the last one when its name is repeated, as in JSON.parse.
 */
export function payloadValueStart(text: string, member: string): number | undefined {
  // In nearly every body the name appears once, and no name can hide in an escape (only a \u escape can spell a letter):
  // then that is the one, and no walk is needed.
  const quoted = `"${member}"`;
  const first = text.indexOf(quoted);
  if (first !== -1 && first === text.lastIndexOf(quoted) && !text.includes('\\u')) {
    return valueStart(text, first + quoted.length);
  }
  let found: number | undefined;
  visitMembers(text, (parent, name, start) => {
    if (parent === 'payload' && name === member) found = start;
  });
  return found;
}

/** The index after the closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function valueStart(text: string, nameEnd: number): number {
  let at = text.indexOf(':', nameEnd) + 1;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return at;
}
