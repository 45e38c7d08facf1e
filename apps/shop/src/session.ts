/**
 * A cookie for each order, sent to the order's own pages only. It tells the browser that ordered from one that was
 * given a link: a redirect counts only in the first (threat A26). It is not a login: it opens nothing more.
 */
export function orderCookie(reference: string, shopUrl: string): string {
  const secure = shopUrl.startsWith('https:') ? '; Secure' : '';
  // Lax, not Strict: the customer comes back from the payment page, which is another site.
  return `order=${reference}; Path=/orders/${reference}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * Who acts on the owner's pages: the inbox keeps it with what was done. This shop has no login, so everybody is the owner.
 * Take the name from your session here, and never from a form.
 */
export function ownerOfSession(): string {
  return 'owner';
}

/** The reference of the order that this browser placed, from the header `cookie`. */
export function orderOfSession(cookies: string | undefined): string | undefined {
  return /(?:^|;\s*)order=([\w-]+)/.exec(cookies ?? '')?.[1];
}
