/** Files that every later turn is told, wherever they lie. */
const FILES: ReadonlySet<string> = new Set(
  [
    ...['AGENTS.md', 'SOUL.md', 'USER.md', 'IDENTITY.md', 'TOOLS.md', 'HEARTBEAT.md'],
    ...['BOOT.md', 'BOOTSTRAP.md', 'MEMORY.md', 'SKILL.md'],
  ].map((name) => name.toLowerCase()),
);
/** Folders of the same kind. */
const FOLDERS: ReadonlySet<string> = new Set(['skills', 'memory']);

/** For the prompt: which files these are. */
export const STANDING_WORDS =
  'AGENTS.md, USER.md, IDENTITY.md, TOOLS.md, HEARTBEAT.md, BOOT.md, BOOTSTRAP.md, MEMORY.md, memory/ or skills/';

/**
 * Whether a path may be that of a file that later turns follow or remember. Spelling, steps to other
 * folders and full paths make no difference: in doubt it is one.
 */
export function isStandingInstruction(path: string): boolean {
  const segments = path
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\\/]+/)
    .map((segment) => segment.trim());
  return segments.some((segment) => FILES.has(segment) || FOLDERS.has(segment));
}
