import { documentOf, type Markup, pageHeaders } from '@payment-service/pages';
import type { Context } from 'hono';
import type { RefusalStatus } from '../../state/refusal.ts';

/** A whole page. `formsTo`: where its forms may lead. `script`: whether it loads the live module. */
export async function page(
  c: Context,
  content: { title: string; body: Markup; status?: 200 | RefusalStatus; formsTo?: string; script?: boolean },
): Promise<Response> {
  return c.html(await documentOf(content), content.status ?? 200, pageHeaders(content));
}
