import type { Audience } from '@parley/contracts';
import { z } from 'zod';

/** The part of a workspace file's front matter that decides who may read it; other keys are the author's own. */
export const AudienceFrontMatter = z.preprocess(
  foldAudience,
  z.looseObject({ audience: z.enum(['owner', 'everyone']).optional() }),
);
export type AudienceFrontMatter = z.infer<typeof AudienceFrontMatter>;

/** True for files that are private whatever they say (W02): `MEMORY.md` and everything in `memory/`. */
export function isMemory(name: string): boolean {
  // Compared without case and with compatibility forms folded: some file systems do the same.
  const folded = name.normalize('NFKC').toLowerCase();
  return folded === 'memory' || folded.startsWith('memory/') || /(^|\/)memory\.md$/.test(folded);
}

/** Notes of the owner's own in the root of a workspace: plans, devices, addresses (W03). */
const OWNERS_FILES: ReadonlySet<string> = new Set([
  ...['heartbeat.md', 'boot.md', 'bootstrap.md', 'tools.md'],
]);

/**
 * Whether a file is the owner's where it does not say otherwise (W03): memory, the files above, what
 * is not Markdown (it has no front matter to say so) and what package managers install.
 */
export function isOwnersByDefault(name: string): boolean {
  // Compared without case and with compatibility forms folded: some file systems do the same.
  const folded = name.normalize('NFKC').toLowerCase();
  return (
    isMemory(name) ||
    OWNERS_FILES.has(folded) ||
    /(^|\/)node_modules\//.test(folded) ||
    !(folded.endsWith('.md') || folded.startsWith('skills/'))
  );
}

/**
 * Who may read a workspace file. Memory is the owner's always; any other file is the owner's when
 * its front matter says so (W03), by default, or when it is not known for whom it was meant.
 */
export function audienceOf(
  name: string,
  declared: 'owner' | 'everyone' | 'unknown' | undefined,
): Audience {
  const isOwners =
    isMemory(name) || (declared === undefined ? isOwnersByDefault(name) : declared !== 'everyone');
  return { kind: isOwners ? 'owner' : 'everyone' };
}

/**
 * `Audience: owner` must not be public because of a capital letter or of a character that nobody sees.
 * Of two spellings in one block it cannot be known which was meant: that is an issue.
 */
function foldAudience(data: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const found = blocksOf(data).flatMap((block) =>
    Object.entries(block).filter(([key]) => isAudienceKey(key)),
  );
  if (found.length > 1) {
    const message = '"audience" is written twice, in two spellings';
    context.addIssue({ code: 'custom', message, input: data });
  }
  const [first] = found;
  return first === undefined ? data : { ...data, audience: first[1] };
}

/** The front matter itself, and the blocks in `metadata` in which authors of skills put their keys. */
function blocksOf(data: object): readonly object[] {
  const metadata = 'metadata' in data ? fromJson(data.metadata) : undefined;
  if (!isObject(metadata)) return [data];
  return [data, metadata, ...Object.values(metadata).map(fromJson).filter(isObject)];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Some authors write a block as a line of JSON in quotes; anything else is a word of their own. */
export function fromJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function isAudienceKey(key: string): boolean {
  return (
    key
      .normalize('NFKC')
      .replace(/[\s\p{Cf}]/gu, '')
      .toLowerCase() === 'audience'
  );
}
