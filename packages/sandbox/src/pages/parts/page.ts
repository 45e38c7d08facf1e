import type { Filled, Markup } from '@payment-service/pages';
import type { Context } from 'hono';
import type { Service } from '../../service/service.ts';
import type { RefusalStatus } from '../../state/refusal.ts';

export type Links = readonly (readonly [href: string, label: string])[];

/** What a page shows inside the frame. */
export interface Content {
  readonly title: string;
  readonly body: Markup;
  /** Beside the heading: a state and buttons. */
  readonly beside?: Markup | string;
  /** The address of its section in the navigation. @default the first part of its own */
  readonly section?: string | undefined;
  /** The pages above this one, the highest first. @default its section */
  readonly crumbs?: Links;
  /** @default 200, or that of the refusal */
  readonly status?: RefusalStatus | undefined;
  /** What is read out when it changes; nothing by default. */
  readonly says?: string;
}

/**
 * Does what a form asks for. Returns what is confirmed to the reader on the page that the form was on, or on the page `to`.
 * Throws a SandboxRefusal.
 */
export type Action = (
  fields: Readonly<Record<string, string>>,
  service: Service,
  c: Context,
) => Done | Promise<Done>;
type Done = string | { readonly said: string; readonly to: string };

/** A page, and what its forms do, by the address below /dashboard that they are sent to. */
export interface Page {
  /** Its name in the navigation; left out where it is not there. */
  readonly section?: string;
  readonly show: (service: Service, c: Context, refused?: Filled) => Content;
  /** Shown again with what was typed when they are refused. */
  readonly forms?: Readonly<Record<string, Action>>;
  /** Forms without fields. */
  readonly buttons?: Readonly<Record<string, Action>>;
}

export const idIn = (c: Context): number => Number(c.req.param('id'));
