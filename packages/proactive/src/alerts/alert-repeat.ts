import { createHash } from 'node:crypto';

const HOUR_MS = 60 * 60_000;

/**
 * The same for two alerts that say the same (H04): marks, case, space, stops, pictures and what nobody
 * sees do not count; letters and digits do. 32 hexadecimal digits.
 */
export function alertFingerprint(text: string): string {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}|[^\p{L}\p{M}\p{N}]/gu, '');
  // Nothing but pictures is an alert, too.
  const said = words === '' ? text.replace(/[\s\p{Cf}]+/gu, '') : words;
  return createHash('sha256').update(said).digest('hex').slice(0, 32);
}

/** From when on (ms) the same alert counts as told already. */
export function repeatSince(now: number, repeatHours: number): number {
  return now - repeatHours * HOUR_MS;
}
