import { type Confirmation, confirmationIn } from '@payment-service/pages';

export const confirmation: Confirmation = confirmationIn('inbox-console-said');

/** Confirms an action on the next page that the visitor sees. */
export const seeOther = (location: string, said: string, path: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location, 'set-cookie': confirmation.say(said, path), 'cache-control': 'no-store' },
  });
