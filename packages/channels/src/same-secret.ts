import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares two secrets in constant time; hashing them first hides their lengths. */
export function isSameSecretText(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
