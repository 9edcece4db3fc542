import type { Audience } from '@parley/contracts';
import { z } from 'zod';

/** The part of a workspace file's front matter that decides who may read it; other keys are the author's own. */
export const AudienceFrontMatter = z.preprocess(
  lowerCaseKeys,
  z.looseObject({ audience: z.enum(['owner', 'everyone']).optional() }),
);
export type AudienceFrontMatter = z.infer<typeof AudienceFrontMatter>;

/** True for files that are private whatever they say (W02): `MEMORY.md` and everything in `memory/`. */
export function isMemory(name: string): boolean {
  // Compared without case and with compatibility forms folded: some file systems do the same.
  const folded = name.normalize('NFKC').toLowerCase();
  return folded === 'memory' || folded.startsWith('memory/') || /(^|\/)memory\.md$/.test(folded);
}

/**
 * Who may read a workspace file. Memory is the owner's always; any other file is the owner's when
 * its front matter says so (W03) or when it is not known for whom it was meant.
 */
export function audienceOf(
  name: string,
  declared: 'owner' | 'everyone' | 'unknown' | undefined,
): Audience {
  if (isMemory(name) || declared === 'owner' || declared === 'unknown') return { kind: 'owner' };
  return { kind: 'everyone' };
}

/** `Audience: owner` must not be public because of a capital letter. */
function lowerCaseKeys(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key.toLowerCase(), value]));
}
