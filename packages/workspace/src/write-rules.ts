import type { Reader } from '@parley/core';
import {
  AudienceFrontMatter,
  findLookalike,
  isGroupFile,
  isMemoryFile,
  isSkillFile,
} from './audience.ts';
import { foldName, isMarkdown } from './folded-names.ts';
import { type FrontMatter, parseFile, readFrontMatter } from './front-matter.ts';

/** Why a reader may not write a file, regardless of the content; `detail` is for the model. */
export interface WriteRefusal {
  readonly kind: 'refused';
  readonly reason:
    | 'private'
    | 'protected'
    | 'front-matter'
    | 'not-text'
    | 'needs-approval'
    | 'changed';
  readonly detail: string;
}

/** The author of a write. */
export interface WriteAuthor {
  readonly reader: Reader;
  /** The only file that a guest may write. */
  readonly groupMemory: string;
  /** Whether memory is off, in which case its files must not be replaced unseen. */
  readonly forgetful: boolean;
}

/**
 * Checks whether this reader may write to a path (W02, W04, W06). An owner may write to everything
 * except SOUL.md, names that resemble a protected name, and other conversations' files; a guest may
 * write only to the memory file for their conversation.
 */
export function refuseWriter(
  { reader, groupMemory, forgetful }: WriteAuthor,
  name: string,
): WriteRefusal | null {
  if (foldName(name) === 'soul.md') {
    return refuseWrite(
      'protected',
      'SOUL.md can only be changed by a proposal: propose_soul_change',
    );
  }
  if (forgetful && (isMemoryFile(name) || isGroupFile(name))) {
    return refuseWrite('private', 'memory is switched off in the settings');
  }
  const meant = findLookalike(name);
  if (meant !== null)
    return refuseWrite('protected', `it looks like ${meant}: use exactly that name`);
  if (name === groupMemory) return null;
  if (isGroupFile(name)) return refuseWrite('private', 'it belongs to another conversation');
  if (reader.kind === 'owner') return null;
  return refuseWrite('private', `only ${groupMemory} can be written here`);
}

/**
 * The approval that an owner's turn needs to write files that others can read (W09): a person was
 * shown the entire file and approved it, or a person's own command changes a file that is already
 * open.
 */
export type WriteApproval =
  | { readonly by: 'approval'; readonly content: string }
  | { readonly by: 'command' };

/** A file as it would be after a write. */
export interface PlannedWrite {
  readonly name: string;
  /** The entire content of the file with its front matter. */
  readonly content: string;
  /** Whether the write creates the file. */
  readonly created: boolean;
  /**
   * Whether others can read text written by an owner's turn, which can see private content (W09):
   * `open` if they could before, `opened` if this write makes it public.
   */
  readonly access: 'closed' | 'open' | 'opened';
}

/** The file that a write would replace. */
export interface WriteTarget {
  readonly name: string;
  /** The entire current file; null if it does not exist. */
  readonly before: string | null;
  /** Whether a SKILL.md above the file makes it private to the owner. */
  readonly inOwnersSkill: boolean;
}

/**
 * Computes the new content of a file. Views return text without front matter, so the text to write
 * does not have any either, and the file keeps its front matter. Front matter in `text` replaces
 * the existing one, but only if it comes from an owner. A file created by an owner's turn is
 * private to the owner unless the turn declares `audience: everyone`, and a private file stays
 * private unless the turn declares that (W03, W09).
 */
export function planWrite(
  reader: Reader,
  text: string,
  target: WriteTarget,
): PlannedWrite | WriteRefusal {
  const { name, before, inOwnersSkill } = target;
  if (text.includes('\0') || !text.isWellFormed()) return refuseWrite('not-text', 'not plain text');
  const current = readFrontMatter(before ?? '', AudienceFrontMatter);
  const wanted = readFrontMatter(text, AudienceFrontMatter);
  const planned = { name, created: before === null };
  if (reader.kind !== 'owner') {
    if (isOwnerOnly(current)) return refuseWrite('private', 'the file is the owner’s');
    if (wanted.kind !== 'none') return refuseWrite('front-matter', 'only the owner may set it');
    return {
      ...planned,
      content: `${getReusableFrontMatter(current)}${ensureFinalNewline(text)}`,
      access: 'closed',
    };
  }
  if (wanted.kind === 'refused') return refuseWrite('front-matter', wanted.reason);
  const kept =
    wanted.kind === 'none'
      ? `${getReusableFrontMatter(current)}${ensureFinalNewline(text)}`
      : ensureFinalNewline(text);
  const isOpenAs = (content: string): boolean =>
    !inOwnersSkill && parseFile(name, content, false).audience.kind === 'everyone';
  const wasOpen = before !== null && isOpenAs(before);
  const saysEveryone = wanted.kind === 'parsed' && wanted.data.audience === 'everyone';
  const isOwnersSkill = isSkillFile(name) && before !== null && !wasOpen;
  if (saysEveryone && (inOwnersSkill || isOwnersSkill)) return refuseWrite('private', SKILL_OPENS);
  // Front matter would break a script or a table, so a file that cannot be marked needs approval.
  const isMarked = !wasOpen && !saysEveryone && isOpenAs(kept) && isMarkdown(name);
  const marked = isMarked ? markAsOwnerOnly(kept, wanted, AGENTS_LINE) : kept;
  if (marked === null) return refuseWrite('front-matter', 'add the line "audience: owner" to it');
  const access = !isOpenAs(marked) ? 'closed' : wasOpen ? 'open' : 'opened';
  return { ...planned, content: marked, access };
}

/** Opening the file would also open the skill's other files, which nobody has reviewed. */
const SKILL_OPENS = 'it belongs to a skill that is the owner’s, which only a person can open';

/**
 * Adds `audience: owner` to the front matter; null if that does not make the file private to the
 * owner.
 */
function markAsOwnerOnly(
  text: string,
  { head }: Pick<AudienceFront, 'head'>,
  line: string,
): string | null {
  const marked =
    head === '' ? `---\n${line}---\n\n${text}` : text.replace(/^(\s*---[^\n]*\n)/, `$1${line}`);
  const front = readFrontMatter(marked, AudienceFrontMatter);
  return front.kind === 'parsed' && isOwnerOnly(front) ? marked : null;
}

/**
 * Restricts a file to its owner; front matter that cannot take the mark becomes part of the text.
 */
export function restrictToOwner(raw: string, by: 'agent' | 'person'): string {
  const front = readFrontMatter(raw, AudienceFrontMatter);
  const line = by === 'agent' ? AGENTS_LINE : OWNERS_LINE;
  const marked = front.kind === 'refused' ? null : markAsOwnerOnly(raw, front, line);
  return marked ?? `---\n${line}---\n\n${raw}`;
}

/**
 * Whether an agent made this file private to the owner, and nobody has decided about it yet (W09).
 */
export function isAudienceUndecided(raw: string): boolean {
  const front = readFrontMatter(raw, AudienceFrontMatter);
  return front.kind === 'parsed' && isOwnerOnly(front) && front.head.includes(AGENTS_LINE);
}

/** Returns the file after a person's decision: open to everyone, or private to the owner. */
export function settleAudience(raw: string, audience: 'everyone' | 'owner'): string {
  return raw.replace(/^audience: owner # written by the agent(?=\r?\n)/m, `audience: ${audience}`);
}

/**
 * Whether a write needs a person's approval that it does not have. An approved text is written
 * exactly, or not at all.
 */
export function refuseUnapprovedWrite(
  { name, content, access }: PlannedWrite,
  approval: WriteApproval | undefined,
): WriteRefusal | null {
  if (approval?.by === 'approval') {
    if (approval.content === content) return null;
    return refuseWrite(
      'changed',
      `${name} has changed since the new text was approved: read it again`,
    );
  }
  if (access === 'closed' || (access === 'open' && approval?.by === 'command')) return null;
  return refuseWrite(
    'needs-approval',
    'others can read it, so a person has to approve the whole text',
  );
}

const OWNERS_LINE = 'audience: owner\n';
/**
 * The front matter of files that an agent created; the comment is removed once a person has decided
 * who may read them (W09).
 */
const AGENTS_LINE = 'audience: owner # written by the agent\n';
const OWNERS_HEAD = `---\n${OWNERS_LINE}---\n\n`;

type AudienceFront = FrontMatter<AudienceFrontMatter>;

function isOwnerOnly(front: AudienceFront): boolean {
  return front.kind === 'refused' || (front.kind === 'parsed' && front.data.audience === 'owner');
}

/**
 * Returns the front matter to put before a new text. A block without an end cannot be kept, but the
 * file stays restricted.
 */
export function getReusableFrontMatter(front: AudienceFront): string {
  if (front.head === '') return front.kind === 'refused' ? OWNERS_HEAD : '';
  return `${front.head.trimEnd()}\n\n`;
}

function ensureFinalNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function refuseWrite(reason: WriteRefusal['reason'], detail: string): WriteRefusal {
  return { kind: 'refused', reason, detail };
}
