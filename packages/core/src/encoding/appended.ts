import { isUtf8 } from 'node:buffer';
import { decodeAs, type Encoding } from './labels.ts';
import { plausibility } from './plausible.ts';

/** Fewer bytes than this prove nothing. */
const MIN_BYTES = 8;

/**
 * The offset at which a file in UTF-16 continues in UTF-8: PowerShell made it, and a shell or an agent has appended
 * to it since. As UTF-16 these lines would be ideographs that no one wrote, and none of their bytes is invalid. Null:
 * nowhere.
 */
export function appendedUtf8At(content: Uint8Array, encoding: Encoding): number | null {
  if (encoding !== 'utf-16le' && encoding !== 'utf-16be') return null;
  // Lines in UTF-16 end with a NUL or have one just before their end.
  const after = content.lastIndexOf(0) + 1;
  const start = after + (after % 2);
  const tail = content.subarray(start);
  if (start === 0 || tail.length < MIN_BYTES || !isUtf8(tail)) return null;
  const text = decodeAs('utf-8', tail);
  const ascii = text.match(/[\n\r\t -~]/g)?.length ?? 0;
  const isProse = ascii * 2 > text.length && /[ \n]/.test(text);
  if (!isProse || plausibility(text, 'utf-8') < 0.9) return null;
  return plausibility(decodeAs(encoding, tail), encoding) < 0.7 ? start : null;
}
