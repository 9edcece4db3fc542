/**
 * Splits a path into segments as the most lenient file system compares names: without case,
 * compatibility forms (full-width letters, ligatures), invisible characters, and trailing dots and
 * spaces. Two paths that could refer to the same file on any file system have the same segments.
 */
export function foldSegments(path: string): readonly string[] {
  return foldPath(path)
    .split(/[\\/:]+/)
    .map((segment) =>
      segment.trim() === '..' ? '..' : segment.replace(/^\s+|(?<![\s.])[\s.]+$/g, ''),
    )
    .filter((segment) => segment !== '');
}

/** Folds a path and joins it into a single text. */
export function foldName(name: string): string {
  return foldSegments(name).join('/');
}

/** Whether a name ends with `.md`, in any spelling. */
export function isMarkdown(name: string): boolean {
  return foldName(name).endsWith('.md');
}

function foldPath(path: string): string {
  // A fast path for nearly all names, because listings fold thousands of names.
  if (/^[ -~]*$/.test(path)) return path.toLowerCase();
  return path
    .normalize('NFKC')
    .replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC');
}
