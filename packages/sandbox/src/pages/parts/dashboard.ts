import type { Context } from 'hono';
import type { Service } from '../../service/service.ts';
import type { SandboxAccount } from '../../state/account.ts';
import type { Refused } from './form.ts';

/** What every page of the dashboard is made from. */
export interface Dashboard {
  readonly service: Service;
  readonly account: SandboxAccount;
  /** The addresses and names of the navigation. */
  readonly sections: readonly (readonly [href: string, label: string])[];
}

/**
 * Does what a form asks for. Returns what is confirmed to the reader on the page that the form was on, or on the page `to`.
 * Throws a SandboxRefusal.
 */
export type Action = (
  fields: Readonly<Record<string, string>>,
  dashboard: Dashboard,
  c: Context,
) => Done | Promise<Done>;
type Done = string | { readonly said: string; readonly to: string };

/** A page, and what its forms do, by the address below /dashboard that they are sent to. */
export interface Page {
  /** Its name in the navigation; left out where it is not there. */
  readonly section?: string;
  readonly show: (c: Context, dashboard: Dashboard, refused?: Refused) => Promise<Response>;
  /** Shown again with what was typed when they are refused. */
  readonly forms?: Readonly<Record<string, Action>>;
  /** Forms without fields. */
  readonly buttons?: Readonly<Record<string, Action>>;
}

export const idIn = (c: Context): number => Number(c.req.param('id'));
