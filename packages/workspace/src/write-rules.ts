import type { Reader } from '@parley/contracts';
import { AudienceFrontMatter, isMemory } from './file-audience.ts';
import { type FrontMatter, readFrontMatter } from './front-matter.ts';
import { isGroupFile } from './group-memory.ts';

/** Why a reader may not write a file, whatever it holds; `detail` is told to the model. */
export interface WriteRefusal {
  readonly kind: 'refused';
  readonly reason: 'private' | 'protected' | 'front-matter' | 'not-text';
  readonly detail: string;
}

/** Who writes. */
export interface Writer {
  readonly reader: Reader;
  /** The one file a guest may write. */
  readonly groupMemory: string;
  /** Memory is switched off: what nobody can read, nobody replaces unseen. */
  readonly forgetful: boolean;
}

/**
 * Whether this reader may write that path at all (W02, W04, W06): an owner everything but SOUL.md
 * and the files of other conversations, anybody else the memory file of their conversation alone.
 */
export function refuseWriter(
  { reader, groupMemory, forgetful }: Writer,
  name: string,
): WriteRefusal | null {
  if (name.normalize('NFKC').toLowerCase() === 'soul.md') {
    return refused('protected', 'SOUL.md changes by a proposal only: propose_soul_change');
  }
  if (forgetful && (isMemory(name) || isGroupFile(name))) {
    return refused('private', 'memory is switched off in the settings');
  }
  if (name === groupMemory) return null;
  if (isGroupFile(name)) return refused('private', 'it belongs to another conversation');
  if (reader.kind === 'owner') return null;
  return refused('private', `here only ${groupMemory} can be written`);
}

/**
 * What will stand in the file. Views give out text without front matter, so what is written has none
 * either, and the file keeps its own. Front matter in `text` replaces it, from an owner alone and
 * never so that a private file becomes readable for more people (W03).
 * `before`: the whole file as it is now, null when there is none.
 */
export function contentToWrite(
  reader: Reader,
  text: string,
  before: string | null,
): string | WriteRefusal {
  if (text.includes('\0') || !text.isWellFormed()) return refused('not-text', 'not a plain text');
  const current = readFrontMatter(before ?? '', AudienceFrontMatter);
  const wanted = readFrontMatter(text, AudienceFrontMatter);
  if (reader.kind !== 'owner') {
    if (isOwners(current)) return refused('private', 'the file is the owner’s');
    if (wanted.kind !== 'none') return refused('front-matter', 'only the owner may set it');
  }
  if (wanted.kind === 'refused') return refused('front-matter', wanted.reason);
  if (wanted.kind === 'none') return `${headToKeep(current)}${ended(text)}`;
  if (isOwners(current) && !isOwners(wanted)) {
    return refused('front-matter', 'the file is private: keep "audience: owner"');
  }
  return ended(text);
}

type Front = FrontMatter<AudienceFrontMatter>;

function isOwners(front: Front): boolean {
  return front.kind === 'refused' || (front.kind === 'parsed' && front.data.audience === 'owner');
}

/**
 * The front matter as it has to stand before a new text. A block without an end cannot be kept, but what
 * it hid stays hidden.
 */
export function headToKeep(front: Front): string {
  if (front.head === '') return front.kind === 'refused' ? '---\naudience: owner\n---\n\n' : '';
  return `${front.head.trimEnd()}\n\n`;
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function refused(reason: WriteRefusal['reason'], detail: string): WriteRefusal {
  return { kind: 'refused', reason, detail };
}
