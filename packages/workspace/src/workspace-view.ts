import { mayRead, type PromptPart, type Reader } from '@parley/core';
import {
  getGroupMemoryFile,
  isGroupFile,
  isInSkillsFolder,
  isMemoryFile,
  isPrivateByDefault,
} from './audience.ts';
import { decideFileAudience, isPrivateBySkill } from './file-audience.ts';
import type { FileCache, FileFault } from './file-cache.ts';
import type { FileHistory } from './file-history.ts';
import type { FileWriter, UnchangedWrite, WritePlan, WriteResult } from './file-writer.ts';
import type { ParsedFile } from './front-matter.ts';
import type { MemoryVersions } from './memory/memory-versions.ts';
import { type FileName, parseFileName } from './paths.ts';
import { type ManagedFile, withManagedFile } from './soul.ts';
import { type TextTruncation, truncateText } from './text.ts';
import type { WriteApproval, WriteAuthor } from './write-rules.ts';

/** A file that this reader may see, ready to become part of a prompt, without front matter. */
export interface WorkspaceFile extends PromptPart {
  readonly kind: 'file';
  /** The length of `text` in characters, including the truncation notice if there is one. */
  readonly characters: number;
  readonly cut: TextTruncation | null;
  /** A doubt about the file's decoding, as a sentence (W10); absent if there is none. */
  readonly warning?: string;
}

export interface FileBytes {
  readonly bytes: Uint8Array;
}

/**
 * Why a file does not have content for the reader; `detail` is for people and never contains text
 * from the file.
 */
export interface AbsentFile {
  readonly kind: 'absent';
  readonly reason: 'missing' | 'empty' | 'private' | 'refused' | 'too-large' | 'unreadable';
  readonly detail?: string;
}

/** A file returned by `list`. */
export interface WorkspaceEntry {
  readonly name: string;
  /** The length of the file without front matter, in characters. */
  readonly characters: number;
}

/** The workspace as one reader sees it; a turn cannot access its files in any other way. */
export interface WorkspaceView {
  readonly reader: Reader;
  /**
   * The memory file for the reader's own conversation (W04), whether or not it exists. Other
   * readers cannot read it, not even the owner in a direct chat; all other files in `groups/` look
   * private to every reader.
   */
  readonly groupMemory: string;
  /** Reads one file, truncated at `limit` characters (20,000 by default) with a notice (P10). */
  read(name: string, limit?: number): Promise<WorkspaceFile | AbsentFile>;
  /**
   * Reads at most `limit` bytes of one file as it is on disk, including front matter. A file that
   * is not text cannot have front matter that opens it, so it is private to the owner (W03).
   */
  readBytes(name: string, limit: number): Promise<FileBytes | AbsentFile>;
  /** Lists the Markdown files that this reader may see, by name. */
  list(): Promise<readonly WorkspaceEntry[]>;
  /**
   * Replaces the text of a file, or creates it, atomically. Existing front matter is kept. Readers
   * other than an owner in a direct chat can write only `groupMemory`; SOUL.md is refused to all
   * readers (W06). An owner's turn can see private content: its new files are private to the owner,
   * and a file that others can read afterwards is written only with a person's approval (W09).
   */
  write(name: string, text: string, approval?: WriteApproval): Promise<WriteResult>;
  /**
   * Writes the text that `change` returns, given the entire text of a file. The argument is null if
   * the file does not exist; a null result means that there is no change to write. Other processes,
   * on any machine, do not write in the meantime.
   */
  change(
    name: string,
    change: ChangeText,
    approval?: WriteApproval,
  ): Promise<WriteResult | UnchangedWrite>;
  /** Plans a change for a person to approve, without writing. */
  plan(name: string, change: ChangeText): Promise<WritePlan>;
  /**
   * Earlier versions of MEMORY.md (H07), available only to an owner in a direct chat, and not if
   * memory is off.
   */
  readonly versions?: MemoryVersions;
  /** Earlier versions of files, from which text can also be forgotten. */
  readonly history?: Pick<FileHistory, 'forget'>;
}

/** Computes a new text from an old one; called at most once. */
export type ChangeText = (text: string | null) => string | null;

/** The sources that all views of a workspace share. */
interface ViewSources {
  readonly files: FileCache;
  /** Lists all Markdown files in the folder, for any reader. */
  readonly names: () => Promise<readonly string[]>;
  readonly writer: FileWriter;
  readonly versions: MemoryVersions;
  readonly history: FileHistory;
  /** Whether memory is off and hidden from every reader. */
  readonly forgetful: boolean;
  /** A file whose text is managed elsewhere. */
  readonly governed: ManagedFile | undefined;
  /** Files with another text than the one on disk. */
  readonly replaced: readonly ManagedFile[];
  /** Whether a shell command may have created a file that looks open. */
  readonly mayBeFromCommand: (name: FileName) => boolean;
}

interface SharedViewSources extends ViewSources {
  /**
   * Files that were found not to be created by a command. A changed file is a new object, so
   * entries last as long as their files.
   */
  readonly unmade: WeakSet<ParsedFile>;
}

/** Creates the views of one workspace, which share the state of unchanged files. */
export function createViewFactory(sources: ViewSources): (reader: Reader) => WorkspaceView {
  const shared: SharedViewSources = { ...sources, unmade: new WeakSet() };
  return (reader) => createView(shared, reader);
}

/** The number of a file's characters that are shown by default. */
const FILE_CHARACTERS = 20_000;

/** Creates the view for `reader`, in which files for other readers appear to have no content. */
function createView(sources: SharedViewSources, reader: Reader): WorkspaceView {
  const groupMemory = getGroupMemoryFile(reader.conversationId);
  const { forgetful, writer } = sources;
  const order = { reader, groupMemory, forgetful };
  const look = (name: string) => listVisibleFiles(sources, order, name);
  const changed = (name: string, change: ChangeText) => async () => {
    const file = await look(name);
    if (!('kind' in file)) return change(file.text);
    // A file that exists but cannot be read must not be replaced by a text written from scratch.
    const { reason, detail = '' } = file;
    const exists = reason === 'too-large' || reason === 'unreadable';
    return exists ? ({ kind: 'refused', reason, detail } as const) : change(null);
  };
  return {
    reader,
    groupMemory,
    read: async (name, limit) => toWorkspaceFile(await look(name), limit),
    async readBytes(name, limit) {
      const file = await look(name);
      const path = parseFileName(name);
      if (path === null || ('kind' in file && !isReadableAsBytes(file, reader))) {
        return 'kind' in file ? file : PRIVATE;
      }
      const found = await sources.files.bytes(path, limit);
      return 'reason' in found ? toAbsentFile(found) : found;
    },
    async list() {
      const files = await Promise.all((await sources.names()).map(look));
      return files.flatMap((file) =>
        'kind' in file ? [] : [{ name: file.name, characters: file.text.length }],
      );
    },
    write: (name, text, approval) => writer.write({ ...order, name, approval }, text),
    change: (name, change, approval) =>
      writer.change({ ...order, name, approval }, changed(name, change)),
    plan: (name, change) => writer.plan({ ...order, name }, changed(name, change)),
    ...(reader.kind === 'owner' && !forgetful && { versions: sources.versions }),
    history: sources.history,
  };
}

/**
 * Reads like an owner's view in a folder that is not opened as a workspace, without creating or
 * changing anything in it.
 */
export function createOwnerReader(files: FileCache): Pick<WorkspaceView, 'read' | 'readBytes'> {
  const sources = { files, governed: undefined, replaced: [], unmade: new WeakSet<ParsedFile>() };
  const order = {
    reader: { kind: 'owner', conversationId: '' },
    ...{ groupMemory: '', forgetful: false },
  } as const;
  const look = (name: string) =>
    listVisibleFiles({ ...sources, mayBeFromCommand: () => false }, order, name);
  return {
    read: async (name, limit) => toWorkspaceFile(await look(name), limit),
    async readBytes(name, limit) {
      const path = parseFileName(name);
      const found = path && (await files.bytes(path, limit));
      return found === null ? PRIVATE : 'reason' in found ? toAbsentFile(found) : found;
    },
  };
}

function toWorkspaceFile(
  file: ParsedFile | AbsentFile,
  limit = FILE_CHARACTERS,
): WorkspaceFile | AbsentFile {
  if ('kind' in file) return file;
  const { text, cut } = truncateText(file.text, limit, file.name);
  const { name: source, audience, warning } = file;
  const shown = { kind: 'file', text, source, audience, characters: text.length, cut } as const;
  return warning === null ? shown : { ...shown, warning };
}

async function listVisibleFiles(
  {
    files,
    governed,
    replaced,
    unmade,
    mayBeFromCommand,
  }: Pick<SharedViewSources, 'files' | 'governed' | 'replaced' | 'unmade' | 'mayBeFromCommand'>,
  { reader, groupMemory, forgetful }: WriteAuthor,
  name: string,
): Promise<ParsedFile | AbsentFile> {
  const path = parseFileName(name);
  if (path === null)
    return toAbsentFile({ reason: 'refused', detail: 'not a path inside the workspace' });
  // The decision is made before the disk is accessed, so that a guest cannot learn whether a memory
  // file exists.
  const isOwn = name === groupMemory;
  if (!isOwn && isGroupFile(name)) return PRIVATE;
  if ((forgetful || reader.kind !== 'owner') && isMemoryFile(name)) return PRIVATE;
  if (forgetful && isOwn) return PRIVATE;
  const cached = files.get(path);
  const onDisk = cached instanceof Promise ? await cached : cached;
  const managed =
    replaced.find((one) => one.name === name) ?? (governed?.name === name ? governed : undefined);
  const found = managed === undefined ? onDisk : await withManagedFile(managed, onDisk);
  if ('reason' in found) {
    // A guest must not learn that a private file exists and is broken.
    if (reader.kind === 'owner' || isOwn || found.reason === 'missing') return toAbsentFile(found);
    const isHidden = isPrivateByDefault(name) || (await isPrivateBySkill(files, path));
    return isHidden ? PRIVATE : toAbsentFile(found);
  }
  // Files outside skills are decided immediately, because each turn reads many of them.
  const isInSkill = isInSkillsFolder(path.segments);
  const audience = isInSkill ? await decideFileAudience(files, path, found) : found.audience;
  const file: ParsedFile = isInSkill ? { ...found, audience } : found;
  // A file's front matter can only narrow its audience.
  if (!mayRead(reader, file.audience)) return PRIVATE;
  if (reader.kind !== 'owner' && !('reason' in onDisk) && !unmade.has(onDisk)) {
    if (mayBeFromCommand(path)) return PRIVATE;
    unmade.add(onDisk);
  }
  if (file.isBlank) return toAbsentFile({ reason: 'empty' });
  if (!isOwn || file.audience.kind === 'owner') return file;
  return { ...file, audience: { kind: 'conversation', conversationId: reader.conversationId } };
}

/**
 * Whether a file can be read as bytes; for the owner, this includes files that are not text or are
 * too long.
 */
function isReadableAsBytes({ reason }: AbsentFile, { kind }: Reader): boolean {
  return kind === 'owner' && ['empty', 'too-large', 'unreadable'].includes(reason);
}

const PRIVATE: AbsentFile = { kind: 'absent', reason: 'private' };

function toAbsentFile(fault: FileFault | { readonly reason: 'empty' }): AbsentFile {
  return { kind: 'absent', ...fault };
}
