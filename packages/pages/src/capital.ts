/** A word or words with a capital letter first and no other, such as a state in a cell. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
