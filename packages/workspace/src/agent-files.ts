import { createHash } from 'node:crypto';
import type { NewId } from '@parley/core';
import { isSkillFile } from './audience.ts';
import type { FileCache } from './file-cache.ts';
import { parseFileName, walkPath } from './paths.ts';
import type { WorkspaceLock } from './workspace-lock.ts';
import { readFileForWrite, writeFileInside } from './write-file.ts';
import { isAudienceUndecided, settleAudience } from './write-rules.ts';

/**
 * A file that an agent created in a turn that could see private content, and that nobody has
 * released yet (W09).
 */
export interface AgentFile {
  readonly name: string;
  /** When the file last changed, in ms. */
  readonly changedAt: number;
  /** The entire content of the file with its front matter. */
  readonly content: string;
  /** A fingerprint that changes with the content. */
  readonly print: string;
  /** False for a SKILL.md, because releasing it would release all files in its skill unseen. */
  readonly canOpen: boolean;
}

/** A person's decision: everyone may read the file, or it stays restricted to the owner. */
export type AgentFileDecision = 'open' | 'keep';

interface AgentFilesOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly files: FileCache;
  readonly names: () => Promise<readonly string[]>;
  readonly lock: WorkspaceLock;
  readonly newId: NewId;
}

/**
 * Files written by agents; only their owner may see them, so a page that shows them must be
 * access-controlled.
 */
export type AgentFiles = ReturnType<typeof openAgentFiles>;

export function openAgentFiles({ folder, files, names, lock, newId }: AgentFilesOptions) {
  /**
   * Reads the entire current file with its front matter; null if it does not exist or cannot be
   * read.
   */
  const content = async (name: string): Promise<string | null> => {
    const path = parseFileName(name);
    const found = path === null ? null : await readFileForWrite(folder, path);
    return found?.kind === 'found' ? found.text : null;
  };
  return {
    content,
    /** Lists the files awaiting a decision, most recently changed first. */
    async list(): Promise<readonly AgentFile[]> {
      const waiting: AgentFile[] = [];
      for (const name of await names()) {
        const path = parseFileName(name);
        const known = path === null ? null : await files.get(path);
        // Most files are excluded without being read.
        if (path === null || known === null || !('declared' in known)) continue;
        if (known.declared !== 'owner') continue;
        const text = await content(name);
        if (text === null || !isAudienceUndecided(text)) continue;
        const found = walkPath(folder, path);
        if (found.kind !== 'file') continue;
        const canOpen = !isSkillFile(name);
        const { changedAt } = found.file;
        waiting.push({ name, changedAt, content: text, print: fingerprintText(text), canOpen });
      }
      return waiting.sort((a, b) => b.changedAt - a.changedAt);
    },
    /**
     * Applies a decision to a file exactly as it was shown to a person. Returns null on success, or
     * an explanation to show to people.
     */
    settle(name: string, print: string, decision: AgentFileDecision): Promise<string | null> {
      return lock.hold(async (hold) => {
        const path = parseFileName(name);
        const text = await content(name);
        if (path === null || text === null) return `${name} no longer exists.`;
        if (!isAudienceUndecided(text)) return `${name} has already been decided.`;
        if (fingerprintText(text) !== print)
          return `${name} has changed in the meantime. Read it again.`;
        if (decision === 'open' && isSkillFile(name)) return OPENS_SKILL;
        const after = settleAudience(text, decision === 'open' ? 'everyone' : 'owner');
        const bytes = Buffer.from(after);
        const written = await writeFileInside(folder, path, bytes, { newId, hold });
        return written.kind === 'refused' ? `${name} was not changed: ${written.detail}.` : null;
      });
    },
  };
}

const OPENS_SKILL =
  'This would open all files in the skill. Review the skill\'s folder, and remove "audience: owner" from its SKILL.md.';

function fingerprintText(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
