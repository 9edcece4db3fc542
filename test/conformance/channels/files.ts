/** A text file with one word, and a one-pixel picture. */
export const FILES = {
  document: Buffer.from('inside'),
  picture: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
} as const;
