import { createHash } from 'node:crypto';
import type { Clock, Logger } from '@parley/core';
import type { SoulRepository, SoulVersion } from '@parley/store';
import type { SoulFileContent, WriteSoul } from '@parley/workspace';
import { BY_HAND, diffSouls } from './soul-text.ts';

/** Returns the difference between a text and the version in use. */
export function diffWithCurrentVersion(inUse: SoulVersion, text: string) {
  return { basedOn: inUse.number, diff: diffSouls(inUse.text, text) };
}

/** The maximum number of open manual edits; beyond it, the oldest edit is dropped. */
const MAX_PENDING_EDITS = 5;

interface SyncContext {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly clock: Clock;
  readonly log: Logger;
  readonly write: WriteSoul;
}

/** Turns an edit into a proposal, and restores the file to the version in use. */
export async function syncSoulFile(
  { agent, souls, clock, log, write }: SyncContext,
  applied: SoulVersion | null,
  onDisk: SoulFileContent,
): Promise<void> {
  if (onDisk.kind === 'refusal') {
    log.warn({ detail: onDisk.detail }, 'SOUL.md is left as it is, and its text is not used');
    return;
  }
  const { text, head } = onDisk.kind === 'file' ? onDisk : { text: '', head: applied?.head ?? '' };
  if (applied === null) {
    if (onDisk.kind === 'missing' || onDisk.isBlank) return;
    if (await souls.seed(agent, { text, head, by: null }, clock())) {
      log.info({ agent }, 'SOUL.md was stored as v0-seed');
    }
    return;
  }
  if (onDisk.kind === 'file' && text === applied.text) {
    if (head !== applied.head) await souls.keepHead(agent, applied.number, head);
    return;
  }
  // A text that was in use is already stored, and an empty file contains no text to keep.
  if (text !== '' && !(await souls.wasApplied(agent, text))) {
    const print = createHash('sha256').update(text).digest('hex').slice(0, 24);
    const askedBy = `edit:${print}:${applied.number}`;
    const edit = { author: 'person', by: BY_HAND, reason: 'edited by hand' } as const;
    const version = { ...edit, askedBy, text, head, ...diffWithCurrentVersion(applied, text) };
    const stored = await souls.propose(agent, version, MAX_PENDING_EDITS, clock());
    if (stored.kind === 'proposed') {
      log.info({ version: stored.version.number }, 'an edit of SOUL.md was stored as a proposal');
    }
  }
  const written = await write(applied.text, head);
  if (written.kind === 'refused') {
    log.warn(
      { detail: written.detail },
      'SOUL.md could not be written; prompts use the stored text',
    );
  } else log.info({ version: applied.number }, 'SOUL.md was restored to the version in use');
}
