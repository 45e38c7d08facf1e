/** Who finds the write lock taken by another process tries again after a time between these, uneven so that two do not meet. */
export const LEAST_RETRY_MS = 1;
export const MOST_RETRY_MS = 4;
