/** A URL with each of these characters percent-encoded. */
export function percentEncode(url: string, characters: RegExp): string {
  return url.replaceAll(characters, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}
