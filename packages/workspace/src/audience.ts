import { createHash } from 'node:crypto';
import type { Audience, Reader, RuntimeFacts } from '@parley/core';
import { z } from 'zod';
import { foldName, foldSegments, isMarkdown } from './folded-names.ts';

/** The properties that determine who reads an answer. */
export type ReaderContext = Pick<RuntimeFacts, 'chatType'> & {
  readonly user: Pick<RuntimeFacts['user'], 'id'>;
  /**
   * Whether the answer is read by people other than the person asking, as with a job that reports
   * to a group.
   */
  readonly deliversElsewhere?: boolean;
};

/**
 * Decides who reads a turn's answer (W02): the owner only when an owner writes in a direct chat and
 * is answered there. All other readers are guests, including an owner in a group; without named
 * owners, every reader is a guest. `owners` are Parley's ids for people, such as `telegram:42`,
 * compared exactly.
 */
export function resolveReader(
  facts: ReaderContext,
  owners: readonly string[],
  conversationId: string,
): Reader {
  const { chatType, user, deliversElsewhere = false } = facts;
  const isOwner = chatType === 'direct' && !deliversElsewhere && owners.includes(user.id);
  return { kind: isOwner ? 'owner' : 'guest', conversationId };
}

/**
 * The part of a workspace file's front matter that decides who may read it; other keys belong to
 * the author.
 */
export const AudienceFrontMatter = z.preprocess(
  normalizeAudience,
  z.looseObject({ audience: z.enum(['owner', 'everyone']).optional() }),
);
export type AudienceFrontMatter = z.infer<typeof AudienceFrontMatter>;

/** True for `MEMORY.md` and everything in `memory/` (W02). */
export function isMemoryFile(name: string): boolean {
  const folded = foldName(name);
  return folded === 'memory' || folded.startsWith('memory/') || /(^|\/)memory\.md$/.test(folded);
}

/** The owner's personal notes in the workspace root: plans, devices, addresses (W03). */
const OWNERS_FILES = ['HEARTBEAT.md', 'BOOT.md', 'BOOTSTRAP.md', 'TOOLS.md'];

/** Names in the workspace root with a special meaning (W01), by their folded form. */
const MEANT_NAMES: ReadonlyMap<string, string> = new Map(
  [
    ...['AGENTS.md', 'SOUL.md', 'USER.md', 'IDENTITY.md', 'MEMORY.md', ...OWNERS_FILES],
    ...['memory', 'skills', 'groups'],
  ].map((name) => [foldName(name), name]),
);

/**
 * Finds the protected name that a path only resembles: `Skills/tea.md` begins like `skills`, and
 * `ＭＥＭＯＲＹ.md` is not `MEMORY.md`. Returns null if there is none. A disk with less strict name
 * comparison stores both names as one file.
 */
export function findLookalike(name: string): string | null {
  const [first = ''] = foldSegments(name);
  const meant = MEANT_NAMES.get(first);
  return meant === undefined || meant === name.split('/', 1)[0] ? null : meant;
}

/**
 * True for files that front matter cannot open: memory (W02), the cases of evaluations, which
 * contain private conversations, installed packages, and names that resemble a protected one.
 */
export function isAlwaysPrivate(name: string): boolean {
  const [first, ...inner] = foldSegments(name);
  if (first === 'evals' && inner.length > 0) return true;
  const isInstalled = foldSegments(name).includes('node_modules');
  return isMemoryFile(name) || isInstalled || findLookalike(name) !== null;
}

/**
 * Whether a file is private to the owner unless it declares another audience (W03); this includes
 * all non-Markdown files, because they cannot have front matter.
 */
export function isPrivateByDefault(name: string): boolean {
  return (
    isAlwaysPrivate(name) ||
    OWNERS_FILES.includes(name) ||
    !(isMarkdown(name) || isInSkillsFolder(name.split('/')))
  );
}

/**
 * Decides a workspace file's audience from its name and front matter. Some files are always private
 * to the owner; other files are private if their front matter says so (W03), by default, or if the
 * intended audience is unclear. Files below `skills/` also need an open SKILL.md, which
 * `decideFileAudience` checks.
 */
export function decideAudience(
  name: string,
  declared: 'owner' | 'everyone' | 'unknown' | undefined,
): Audience {
  const isOwners =
    isAlwaysPrivate(name) ||
    (declared === undefined ? isPrivateByDefault(name) : declared !== 'everyone');
  return { kind: isOwners ? 'owner' : 'everyone' };
}

/**
 * `Audience: owner` must not become public because of a capital letter or an invisible character.
 * Two spellings in one block are an error, because it is unknown which spelling was intended.
 */
function normalizeAudience(data: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const found = listFrontMatterBlocks(data).flatMap((block) =>
    Object.entries(block).filter(([key]) => isAudienceKey(key)),
  );
  if (found.length > 1) {
    const message = '"audience" is written twice, in two spellings';
    context.addIssue({ code: 'custom', message, input: data });
  }
  const [first] = found;
  return first === undefined ? data : { ...data, audience: first[1] };
}

/**
 * Lists the front matter itself, and the blocks in `metadata` in which skill authors put their
 * keys.
 */
function listFrontMatterBlocks(data: object): readonly object[] {
  const metadata = 'metadata' in data ? parseQuotedJson(data.metadata) : undefined;
  if (!isObject(metadata)) return [data];
  return [data, metadata, ...Object.values(metadata).map(parseQuotedJson).filter(isObject)];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Some authors write a block as a quoted line of JSON; other values are left unchanged. */
function parseQuotedJson(value: unknown): unknown {
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

/** The folder that holds the memory files of individual conversations (W04). */
const GROUPS = 'groups';

/** The number of characters of a conversation id that remain readable in the file name. */
const SLUG_LENGTH = 60;

/**
 * The number of hexadecimal digits of the hash after the slug: 96 bits, so that two conversations
 * never collide.
 */
const HASH_LENGTH = 24;

/**
 * Returns the memory file for one conversation, such as `groups/telegram-default-1001-3f….md`.
 * People recognize the slug, and the hash makes the name unique even on a case-insensitive file
 * system.
 */
export function getGroupMemoryFile(conversationId: string): string {
  const slug = toReadableSlug(conversationId).slice(0, SLUG_LENGTH).replace(/-$/, '');
  const hash = createHash('sha256').update(conversationId).digest('hex').slice(0, HASH_LENGTH);
  return `${GROUPS}/${slug === '' ? hash : `${slug}-${hash}`}.md`;
}

/** True for all files in `groups/`; each of them belongs to a single conversation. */
export function isGroupFile(name: string): boolean {
  const folded = foldName(name);
  return folded === GROUPS || folded.startsWith(`${GROUPS}/`);
}

function toReadableSlug(conversationId: string): string {
  return conversationId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');
}

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';

/** Whether a file makes its folder a skill, on any file system. */
export function isSkillFile(name: string): boolean {
  return foldSegments(name).at(-1) === foldName(SKILL_FILE);
}

/** True for all files in `skills/`. */
export function isInSkillsFolder([folder]: readonly string[]): boolean {
  return folder !== undefined && foldName(folder) === 'skills';
}
