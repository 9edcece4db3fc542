import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isGroupFile } from '../audience.ts';

/** The kind of a memory (G13). */
export const MemoryType = z.enum(['preference', 'fact', 'skill', 'habit', 'constraint']);
export type MemoryType = z.infer<typeof MemoryType>;

/** The scope of a memory; `session` means until `/new` in the chat where it was saved. */
export const MemoryScope = z.enum(['user', 'project', 'session']);
export type MemoryScope = z.infer<typeof MemoryScope>;

/** The message from which a memory was saved. */
export const MemoryOrigin = z.strictObject({
  channel: z.string(),
  chat: z.string(),
  message: z.string(),
  conversation: z.string(),
  session: z.coerce.number().int(),
});
export type MemoryOrigin = z.infer<typeof MemoryOrigin>;

/**
 * The author of a memory's text. `own`: exactly what the person wrote. `agent`: the agent worded
 * the memory. `hand`: a person edited the line in the file.
 */
export type MemoryAuthorship = 'own' | 'agent' | 'hand';

/** A memory, which is one line in a file. */
export interface MemoryEntry {
  readonly id: string;
  readonly type: MemoryType;
  readonly scope: MemoryScope;
  /** The text, always a single line. */
  readonly text: string;
  /** The person whom the memory is about or who wrote it, by their Parley id (`telegram:42`). */
  readonly person: string | null;
  /** `2026-11-21` */
  readonly date: string | null;
  readonly from: MemoryOrigin | null;
  readonly words: MemoryAuthorship;
  /** Whether Parley saved the memory automatically, because the model did not. */
  readonly automatic: boolean;
}

/** The maximum length of a memory, in characters. */
const MEMORY_CHARACTERS = 500;

/** Converts a text to one plain line that cannot begin or end one of the file's marks. */
export function toMemoryLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/<!--|--+>|<!/g, ' ')
    .replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/^[\s\-*+>#]+/, '')
    .trim();
  return line.length <= MEMORY_CHARACTERS
    ? line
    : `${line
        .slice(0, MEMORY_CHARACTERS - 2)
        .toWellFormed()
        .trim()} …`;
}

/**
 * Creates the id for a memory from one message. The id is the same in every run of a turn, so that
 * the memory is saved only once. `seed` distinguishes several memories from the same message.
 */
export function createMemoryId(seed: readonly string[]): string {
  return `m${hashMemoryText(JSON.stringify(seed))}`;
}

/** Creates the id for a line written by hand, which changes with the text. */
function createHandwrittenId(text: string): string {
  return `h${hashMemoryText(text)}`;
}

function hashMemoryText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}

/** The files with the owner's memories, by scope. */
export const SAVED_FILES: Readonly<Record<MemoryScope, string>> = {
  user: 'memory/user.md',
  project: 'memory/project.md',
  session: 'memory/session.md',
};

/** Returns the scope of lines that do not state one; null if the file is not a memory file. */
export function getFileScope(name: string): MemoryScope | null {
  if (isGroupFile(name)) return 'project';
  if (name === SAVED_FILES.user) return 'user';
  if (name === SAVED_FILES.project) return 'project';
  return name === SAVED_FILES.session ? 'session' : null;
}

const HEAD =
  '# What I was told\n\nOne memory in each line. Lines may be changed, removed and added by hand.\n';

/** A list item, followed by the comment with its origin. */
const ITEM = /^[-*+] +(.*?)(?:\s*<!-- parley (.*?) -->)?\s*$/;

const Mark = z.object({
  id: z.string().regex(/^[a-z0-9]{4,40}$/),
  type: MemoryType,
  scope: MemoryScope,
  person: z.string().optional(),
  date: z.iso.date().optional(),
  words: z.enum(['own', 'agent']),
  automatic: z.literal('yes').optional(),
});

/**
 * Parses the memories in a file, in order. List items without a mark, or with an invalid mark, were
 * written by hand and count as facts about `scope`. Never throws.
 */
export function parseMemoryFile(text: string, scope: MemoryScope): readonly MemoryEntry[] {
  return text.split('\n').flatMap((line) => parseMemoryLine(line, scope) ?? []);
}

/** Returns the file with one memory added; `text` is null if the file does not exist yet. */
export function addMemoryEntry(text: string | null, entry: MemoryEntry): string {
  const before = text === null || text.trim() === '' ? HEAD : `${text.trimEnd()}\n`;
  const gap = /\n[-*+] [^\n]*\n$/.test(before) ? '' : '\n';
  return `${before}${gap}${formatMemoryEntry(entry)}\n`;
}

/** Returns the file without the lines of these memories. */
export function removeMemoryEntries(
  text: string,
  scope: MemoryScope,
  ids: ReadonlySet<string>,
): string {
  return text
    .split('\n')
    .filter((line) => {
      const entry = parseMemoryLine(line, scope);
      return entry === null || !ids.has(entry.id);
    })
    .join('\n');
}

/** Formats the line that represents a memory. */
export function formatMemoryEntry({ text, from, ...entry }: MemoryEntry): string {
  const { automatic, ...rest } = entry;
  const mark = Object.entries({ ...rest, ...from, ...(automatic && { automatic: 'yes' }) })
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`)
    .join(' ');
  return `- ${toMemoryLine(text)} <!-- parley ${mark} -->`;
}

function parseMemoryLine(line: string, scope: MemoryScope): MemoryEntry | null {
  const [, written = '', mark] = ITEM.exec(line) ?? [];
  const text = toMemoryLine(written);
  if (text === '') return null;
  return (
    (mark === undefined ? null : parseMarkedEntry(text, mark)) ?? parseHandwrittenEntry(text, scope)
  );
}

function parseMarkedEntry(text: string, mark: string): MemoryEntry | null {
  const values = parseMarkValues(mark);
  const parsed = Mark.safeParse(values);
  if (!parsed.success) return null;
  const { person = null, date = null, automatic, ...rest } = parsed.data;
  const { channel, chat, message, conversation, session } = values;
  const from = MemoryOrigin.safeParse({ channel, chat, message, conversation, session });
  return {
    ...rest,
    text,
    person,
    date,
    from: from.success ? from.data : null,
    automatic: automatic === 'yes',
  };
}

function parseHandwrittenEntry(text: string, scope: MemoryScope): MemoryEntry {
  const unknown = { person: null, date: null, from: null, automatic: false };
  return { id: createHandwrittenId(text), type: 'fact', scope, text, words: 'hand', ...unknown };
}

function parseMarkValues(mark: string): Readonly<Record<string, string>> {
  const pairs = mark.split(/\s+/).flatMap((pair) => {
    const [, key, value] = /^([a-z]+)=(.*)$/.exec(pair) ?? [];
    if (key === undefined || value === undefined) return [];
    try {
      return [[key, decodeURIComponent(value)] as const];
    } catch {
      // The line was changed by hand, so its mark is ignored.
      return [];
    }
  });
  return Object.fromEntries(pairs);
}
