import { createHash } from 'node:crypto';
import type { NewId } from '@parley/core';
import { isSkillFile } from './audience.ts';
import type { FileCache } from './file-cache.ts';
import { parseFileName, walkPath } from './paths.ts';
import type { WorkspaceLock } from './workspace-lock.ts';
import { readForWrite, writeFileInside } from './write-file.ts';
import { isAudienceUnsettled, settleAudience } from './write-rules.ts';

/**
 * A file that an agent created in a turn that could see private parts, and about which no person
 * has decided yet (W09).
 */
export interface AgentFile {
  readonly name: string;
  /** When it last changed, in ms. */
  readonly changedAt: number;
  /** The entire file with its front matter. */
  readonly content: string;
  /** Changes with the content. */
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
 * Files written by agents. They are for their owner only: whatever shows them must be
 * access-controlled.
 */
export type AgentFiles = ReturnType<typeof openAgentFiles>;

/** Opens the agent-written files of a workspace. */
export function openAgentFiles({ folder, files, names, lock, newId }: AgentFilesOptions) {
  /** The entire current file with its front matter; null if it does not exist or cannot be read. */
  const content = async (name: string): Promise<string | null> => {
    const path = parseFileName(name);
    const found = path === null ? null : await readForWrite(folder, path);
    return found?.kind === 'found' ? found.text : null;
  };
  return {
    content,
    /** The files awaiting a decision, most recently changed first. */
    async list(): Promise<readonly AgentFile[]> {
      const waiting: AgentFile[] = [];
      for (const name of await names()) {
        const path = parseFileName(name);
        const known = path === null ? null : await files.get(path);
        // Reads only a few files, because what is known about the others suffices.
        if (path === null || known === null || !('declared' in known)) continue;
        if (known.declared !== 'owner') continue;
        const text = await content(name);
        if (text === null || !isAudienceUnsettled(text)) continue;
        const found = walkPath(folder, path);
        if (found.kind !== 'file') continue;
        const canOpen = !isSkillFile(name);
        const { changedAt } = found.file;
        waiting.push({ name, changedAt, content: text, print: fingerprintText(text), canOpen });
      }
      return waiting.sort((a, b) => b.changedAt - a.changedAt);
    },
    /**
     * Applies a decision to a file exactly as it was shown to a person. Returns null on success,
     * otherwise a reason to show to people.
     */
    settle(name: string, print: string, decision: AgentFileDecision): Promise<string | null> {
      return lock.hold(async (hold) => {
        const path = parseFileName(name);
        const text = await content(name);
        if (path === null || text === null) return `${name} is not there any more.`;
        if (!isAudienceUnsettled(text)) return `${name} was decided already.`;
        if (fingerprintText(text) !== print) return `${name} has changed meanwhile. Read it again.`;
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
  'All files of the skill would be opened with it. Look through its folder, and take "audience: owner" out of its SKILL.md.';

function fingerprintText(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
