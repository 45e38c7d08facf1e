import { join } from 'node:path';
import { redirectQuery } from '@payment-service/conformance';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { type CodeBlock, runnable } from '../../src/extracted.ts';
import { root, type TextFile } from '../../src/repository.ts';
import { withRunningProgram } from './running-program.ts';

/** Of at most 80 characters: what a screen shows without scrolling, and twice that for the whole way of a payment. */
const MAX_LINES = 26;
export const MAX_LINES_OF_WHOLE_WAY: number = 2 * MAX_LINES;
const PATH = '/payments/callbacks';
const signingKey = 'README4SIGNING4KEY';
const ACCEPTED = '200 {"status":"accepted"}';
const FAILED = '429 {"error":"handler_failed"}';

/**
 * The problems of a program in a document: it is longer than a screen, open to the network, or does not do what it should show.
 *
 * @param printed what it must print only about the genuine payment.
 */
export async function programProblems(
  block: CodeBlock,
  folder: string,
  printed: string | undefined,
  maxLines: number = MAX_LINES,
): Promise<readonly string[]> {
  const lines = block.code.trimEnd().split('\n').length;
  return [
    ...(lines > maxLines ? [`it has ${lines} lines, more than ${maxLines}`] : []),
    ...addressProblems(block.code),
    ...(await serverProblems(runnable(block, folder), printed, answerToOtherAmount(block.code))),
  ];
}

/** A program that lets assertAmount() throw has kept nothing, and must not acknowledge a callback that needs manual review. */
function answerToOtherAmount(code: string): string {
  return code.includes('assertAmount(') && !code.includes('AmountMismatchError') ? FAILED : ACCEPTED;
}

/**
 * The problems of an example: those of a program, and a redirect must lead to a page that says whether the callback has paid
 * the order.
 */
export async function exampleProblems({ path, text }: TextFile, printed: string): Promise<readonly string[]> {
  return [
    ...addressProblems(text),
    ...(await serverProblems(join(root, path), printed, ACCEPTED, redirectProblems)),
  ];
}

function addressProblems(code: string): readonly string[] {
  return [
    ...(code.includes("'127.0.0.1'") ? [] : ["it does not listen on '127.0.0.1' only"]),
    ...(code.includes('Number(process.env.PORT ?? 3000)') ? [] : ['its port is not PORT, or else 3000']),
  ];
}

/**
 * Starts a server, sends it a forged callback, a signed one whose unsigned amount was changed, and a genuine one, then asks it
 * to end: with 0 on SIGTERM.
 */
async function serverProblems(
  file: string,
  printed: string | undefined,
  toOtherAmount: string,
  visit: (url: string, isPaid: boolean) => Promise<readonly string[]> = async () => [],
): Promise<readonly string[]> {
  const problems: string[] = [];
  try {
    // Nothing answers there: the client is created, and not used.
    const client = {
      BASE_URL: 'http://127.0.0.1:9',
      PUBLIC_KEY: 'README4PUBLIC4KEY',
      SECRET_KEY: 'README4SECRET4KEY',
    };
    const env = { SIGNING_KEY: signingKey, ...client };
    const { output, exitCode } = await withRunningProgram(file, env, async ({ url, hasPrinted }) => {
      const expectAnswer = async (what: string, payload: object, expected: string): Promise<void> => {
        const answer = await send(url, payload);
        if (answer !== expected) problems.push(`${what} gets ${answer}`);
      };
      const { payload } = sampleCallback();
      const forged = { ...payload, merchant_reference: 'ORD-1002' };
      const inflated = { ...payload, request_amount: 5_000_000, transaction_amount: 5_000_000 };
      await expectAnswer('a forged callback', forged, '401 {"error":"unauthorized"}');
      await expectAnswer('a callback with another amount', inflated, toOtherAmount);
      problems.push(...(await visit(url, false)));
      await expectAnswer('a signed callback', payload, ACCEPTED);
      problems.push(...(await visit(url, true)));
      if (printed !== undefined) await hasPrinted(printed);
    });
    if (printed !== undefined && output.split(printed).length > 2)
      problems.push(`it prints "${printed}" for a forged callback or another amount`);
    // Windows has no SIGTERM: there a process ends without notice.
    if (exitCode !== 0 && process.platform !== 'win32')
      problems.push(`it ended with ${exitCode} on SIGTERM, not with 0`);
    return problems;
  } catch (error) {
    return [...problems, error instanceof Error ? error.message : String(error)];
  }
}

/** Follows the sample's redirect, and a forged one whose reference was changed. */
async function redirectProblems(url: string, isPaid: boolean): Promise<readonly string[]> {
  const query = redirectQuery(sampleCallback(), signingKey);
  const page = await fetch(`${url}/payments/return${query}`);
  const said = `${page.status} ${await page.text()}`;
  const { status } = await fetch(`${url}/payments/return${query.replace('ORD-1001', 'ORD-1002')}`);
  return [
    ...((isPaid ? /^200 Paid/ : /^200 Waiting/).test(said) ? [] : [`a redirect leads to ${said}`]),
    ...(status === 401 ? [] : [`a forged redirect gets ${status}`]),
  ];
}

/** Has the sample's signature, so a payload with another signed field is forged. */
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
