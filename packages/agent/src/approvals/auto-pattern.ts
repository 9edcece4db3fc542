/** What joins commands or starts others in a shell, and line breaks: no `*` stands for it. */
const RUN_OF_HARMLESS = '[^\\n\\r;|&<>$`(){}]*';

/**
 * Whether an entry of the allow list covers a call: `write` all calls of a tool, `write:notes/*` those
 * whose subject matches as a whole. A `*` stands for any characters but those of a shell that lead on
 * to another command, and for no step up to another folder: `git status; rm -r .` is no `git status*`.
 */
export function isAllowed(entry: string, tool: string, subject: string | null): boolean {
  const colon = entry.indexOf(':');
  if (colon === -1) return entry === tool;
  if (entry.slice(0, colon) !== tool || subject === null) return false;
  const pattern = entry.slice(colon + 1);
  if (!pattern.includes('*')) return pattern === subject;
  if (/(^|[\\/])\.\.([\\/]|$)/.test(subject)) return false;
  const expression = pattern.split('*').map(literal).join(RUN_OF_HARMLESS);
  return new RegExp(`^${expression}$`, 'u').test(subject);
}

/** Whether an entry names exactly this subject, without any `*`. */
export function isNamed(entry: string, tool: string, subject: string | null): boolean {
  return subject !== null && !entry.includes('*') && entry === `${tool}:${subject}`;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
