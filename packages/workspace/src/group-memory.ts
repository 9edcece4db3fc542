import { createHash } from 'node:crypto';

/** Folder of the memory files of single conversations (W04). */
const FOLDER = 'groups';

/** Characters of a conversation id that are kept readable in the file's name. */
const SLUG_LENGTH = 60;

/** Hexadecimal digits of the hash behind the slug: 96 bits keep two conversations apart for good. */
const HASH_LENGTH = 24;

/**
 * The memory file of one conversation, such as `groups/telegram-default-1001-3f….md`. People
 * recognise the slug, the hash makes the name unique, also where a file system ignores case.
 */
export function groupMemoryOf(conversationId: string): string {
  const slug = readable(conversationId).slice(0, SLUG_LENGTH).replace(/-$/, '');
  const hash = createHash('sha256').update(conversationId).digest('hex').slice(0, HASH_LENGTH);
  return `${FOLDER}/${slug === '' ? hash : `${slug}-${hash}`}.md`;
}

/** True for whatever lies in `groups/`: each file there belongs to one conversation and no other. */
export function isGroupFile(name: string): boolean {
  // Folded as some file systems fold names, so that `Groups/` is no way around.
  const folded = name.normalize('NFKC').toLowerCase();
  return folded === FOLDER || folded.startsWith(`${FOLDER}/`);
}

function readable(conversationId: string): string {
  return conversationId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');
}
