import { checkArgument, checkOptions, type OptionRule } from '@payment-service/core/internal';
import type { OperatorContext } from '../../operator/reports.ts';
import { textOf } from '../../store/store.ts';
import { jsonIn } from '../../verdict/stored-values.ts';
import { FORMAT_RULES, type StatementFormat } from './statement-format.ts';

const MAX_NAME = 60;
const NAME: OptionRule = [
  (name) => typeof name === 'string' && name.trim() !== '' && name.length <= MAX_NAME,
  `1 to ${MAX_NAME} characters that name a bank or a wallet`,
];

/** How the files of each bank are read, by its name. */
export async function readFormats<Tx>({
  statements,
  settings,
}: OperatorContext<Tx>): Promise<Record<string, StatementFormat>> {
  const rows = await statements.run('list_formats', [settings.account]);
  return Object.fromEntries(
    rows.map((row) => [textOf(row, 'name'), jsonIn(row, 'format') as StatementFormat]),
  );
}

/** @param format Undefined forgets it. */
export async function keepFormat<Tx>(
  { statements, settings: { account } }: OperatorContext<Tx>,
  name: string,
  format: StatementFormat | undefined,
): Promise<void> {
  checkArgument('keepStatementFormat()', 'name', name, NAME);
  if (format === undefined) {
    await statements.run('forget_format', [account, name]);
    return;
  }
  checkOptions('keepStatementFormat()', format, FORMAT_RULES);
  await statements.run('keep_format', [account, name, JSON.stringify(format)]);
}
