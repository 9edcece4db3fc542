import { type DocumentLimits, type DocumentText, documentText } from '../document-text.ts';

/**
 * Plain text and everything that is read as such: Markdown, CSV, JSON, HTML and program source. In
 * UTF-8 or UTF-16 with its mark; whatever else there is, is most often the Windows code page.
 */
export function readPlain(bytes: Uint8Array, limits: DocumentLimits): DocumentText {
  return documentText(decode(bytes), limits);
}

function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes); // The decoder's only way to say "not UTF-8".
  }
}
