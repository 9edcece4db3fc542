import { decodeText, describeEncodingWarning } from '@parley/core';

/** A file's bytes decoded as text, or an explanation for people of why they are not text. */
export type FileText =
  | {
      readonly kind: 'text';
      /** The entire file, including front matter, without a byte order mark. */
      readonly text: string;
      /** The WHATWG label of the encoding. */
      readonly encoding: string;
      /** A doubt about the decoding; null if there is none. */
      readonly warning: string | null;
    }
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Decodes a workspace file's bytes (W10). Views, the page, shell commands, the import, `doctor` and
 * `audit` all read files through this function, so that they see the same text. Text that is
 * written back is entirely UTF-8. Never throws.
 */
export function decodeFileText(bytes: Uint8Array): FileText {
  const decoded = decodeText(bytes);
  const { text, encoding } = decoded;
  if (text.includes('\0')) return { kind: 'refused', detail: 'not a text file' };
  if (decoded.certainty === 'none') {
    return { kind: 'refused', detail: 'unknown encoding; save the file as UTF-8' };
  }
  return { kind: 'text', text, encoding, warning: describeEncodingWarning(decoded) };
}
