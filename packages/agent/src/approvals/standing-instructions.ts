/** Files that later turns are told, wherever they lie. SOUL.md is not among them: no tool can write it (W06). */
const FILES: ReadonlySet<string> = new Set([
  ...['agents.md', 'user.md', 'identity.md', 'tools.md', 'heartbeat.md'],
  ...['boot.md', 'bootstrap.md', 'memory.md', 'skill.md'],
]);
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
