/** The URL parser has already turned `127.1` and `0x7f000001` into this form. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a URL's hostname (as `URL.hostname` writes it) is this computer: localhost, 127.0.0.0/8 or [::1]. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);
