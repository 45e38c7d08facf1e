import type { SandboxEndpoint } from '../service/endpoints.ts';
import { fieldsOf } from '../service/request-schemas.ts';
import type { SandboxAccount } from '../state/account.ts';
import { payerIn } from './trigger.ts';

/** A value for each field that a request needs. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  merchant_reference: 'ORD-1',
  amount: 500,
  currency: 'UGX',
  ...payerIn({ currency: 'UGX' }),
};

/** The endpoints, each with the members of its body: one line each. */
export function endpointLines(endpoints: readonly SandboxEndpoint[]): string {
  const lines = endpoints.map(({ method = 'POST', path, starts, members }) => {
    const read = Object.entries(members).map(([field, member]) =>
      field === member ? member : `${member} (${field})`,
    );
    return `  ${method} ${path} starts a ${starts}: ${read.join(', ')}`;
  });
  return ['Endpoints of your own contract, with the members that they read:', ...lines].join('\n');
}

/** A command that calls an endpoint with the members that it needs. */
export function curlOf(
  { method = 'POST', path, starts, members, secretKey = true }: SandboxEndpoint,
  url: string,
  { publicKey, secretKey: secret }: SandboxAccount,
): string {
  let filled = path;
  const body: Record<string, unknown> = {};
  for (const [field, { isNeeded }] of fieldsOf(starts)) {
    const member = (members as Readonly<Record<string, string | undefined>>)[field];
    if (!isNeeded || member === undefined) continue;
    if (path.includes(`{${member}}`)) filled = filled.replace(`{${member}}`, String(SAMPLES[field]));
    else put(body, member.split('.'), SAMPLES[field]);
  }
  const keys = [`-H 'public-key: ${publicKey}'`, ...(secretKey ? [`-H 'secret-key: ${secret}'`] : [])];
  return `  curl -X ${method} ${keys.join(' ')} \\
    -H 'content-type: application/json' '${url}${filled}' \\
    -d '${JSON.stringify(body)}'`;
}

function put(object: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) object[name] = value;
  else {
    const inner = (object[name] ?? {}) as Record<string, unknown>;
    object[name] = inner;
    put(inner, rest, value);
  }
}
