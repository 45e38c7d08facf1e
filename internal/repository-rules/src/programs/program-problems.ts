import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type CodeBlock, extract } from '../extracted.ts';
import { withRunningProgram } from './running-program.ts';

const MOST_LINES = 20;
const PATH = '/payments/callbacks';
const signingKey = 'README-SIGNING-KEY';

/**
 * What is wrong with a program of a README: longer than a screen, open to the network, or not doing what it is there to
 * show. It is started, and gets a signed callback, a forged one, and a signed one whose unsigned amount was changed.
 *
 * @param printed what it has to print about the payment, and nothing about the others.
 */
export async function programProblems(
  block: CodeBlock,
  folder: string,
  printed: string | undefined,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const lines = block.code.trimEnd().split('\n').length;
  if (lines > MOST_LINES) problems.push(`it has ${lines} lines, more than ${MOST_LINES}`);
  if (!block.code.includes("'127.0.0.1'")) problems.push("it does not listen on '127.0.0.1' only");
  if (!block.code.includes('Number(process.env.PORT ?? 3000)'))
    problems.push('its port is not PORT, or else 3000');

  try {
    const output = await withRunningProgram(
      extract(block, folder),
      signingKey,
      async ({ url, hasPrinted }) => {
        const expectAnswer = async (what: string, payload: object, expected: string): Promise<void> => {
          const answer = await send(url, payload);
          if (answer !== expected) problems.push(`${what} gets ${answer}`);
        };
        const { payload } = sampleCallback();
        const forged = { ...payload, merchant_reference: 'ORD-1002' };
        const inflated = { ...payload, request_amount: 5_000_000, transaction_amount: 5_000_000 };
        await expectAnswer('a forged callback', forged, '401 {"error":"unauthorized"}');
        await expectAnswer('a callback with another amount', inflated, '200 {"status":"accepted"}');
        await expectAnswer('a signed callback', payload, '200 {"status":"accepted"}');
        if (printed !== undefined) await hasPrinted(printed);
      },
    );
    if (printed !== undefined && output.split(printed).length > 2)
      problems.push(`it prints "${printed}" for a forged callback or another amount`);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return problems;
}

/** Signed as the sample is: a payload with another signed field is a forged one. */
async function send(url: string, payload: object): Promise<string> {
  const data = sampleCallback();
  const signature = signCallback({ signingKey, data });
  const response = await fetch(url + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'hmac-signature': signature },
    body: JSON.stringify({ ...data, payload }),
  });
  return `${response.status} ${await response.text()}`;
}
