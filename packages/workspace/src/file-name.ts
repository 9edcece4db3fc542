/** A path inside the workspace, checked: its segments are plain names and cannot leave the folder. */
export interface FileName {
  readonly name: string;
  readonly segments: readonly string[];
}

/** Longest path, in characters, and deepest nesting. */
const MAX_LENGTH = 240;
const MAX_SEGMENTS = 8;

/**
 * Takes a path as tools and layers write it (`memory/2026-11-21.md`). Refuses what could leave the
 * folder, hide (`.git`), or mean another file on some systems (`MEMORY.md.`, `MEMORY.md::$DATA`).
 * Returns null for a refused path.
 */
export function parseFileName(name: string): FileName | null {
  if (name.length === 0 || name.length > MAX_LENGTH) return null;
  const segments = name.split('/');
  if (segments.length > MAX_SEGMENTS || !segments.every(isPlainName)) return null;
  return { name, segments };
}

function isPlainName(segment: string): boolean {
  if (segment === '' || segment.startsWith('.') || /[. ]$/.test(segment)) return false;
  return !/[\\:\p{Cc}\p{Cf}]/u.test(segment);
}
