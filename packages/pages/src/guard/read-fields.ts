/** More than any of our forms has. */
export const MAX_FIELDS = 100;

/**
 * The fields of a form as browsers send it; undefined if there are more than `MAX_FIELDS`. They are counted before they are
 * parsed, which takes more than linear time (threat A63).
 */
export function readFields(text: string): URLSearchParams | undefined {
  return text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS ? undefined : new URLSearchParams(text);
}
