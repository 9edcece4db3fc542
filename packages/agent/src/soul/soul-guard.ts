import { createHash } from 'node:crypto';
import { type Clock, type Logger, reasonOf } from '@parley/core';
import type { SoulRepository, SoulVersion } from '@parley/store';
import {
  type GovernedFile,
  localLock,
  SOUL,
  type SoulFile,
  type SoulOnDisk,
  type WriteSoul,
} from '@parley/workspace';
import { soulDiff } from './soul-text.ts';

export interface SoulGuardOptions {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly file: SoulFile;
  readonly clock: Clock;
  readonly log: Logger;
}

export type SoulGuard = ReturnType<typeof createSoulGuard>;

/** `at-once`: also while an editor may still be writing the file. */
type Moment = 'at-once' | 'settled';

/** An editor may still be writing a file that changed less than this ago. In ms. */
const SETTLED_MS = 1_000;
/** Open edits at a time; the oldest is dropped. */
const MOST_EDITS = 5;

/** Keeps the file a copy of the version in use, and edits by people as proposals (W06). */
export function createSoulGuard(deps: SoulGuardOptions) {
  let seen = '';
  // One at a time: two looks at the same edit would both restore the file.
  const turns = localLock();
  const look = async (when: Moment): Promise<SoulVersion | null> => {
    const applied = await deps.souls.applied(deps.agent);
    const glance = deps.file.glance();
    if (markOf(glance, applied?.number) === seen) return applied;
    const age = glance === null ? SETTLED_MS : deps.clock() - glance.changedAt;
    if (when === 'settled' && age >= 0 && age < SETTLED_MS) return applied;
    return deps.file.alone(async (write) => {
      // Another process may have synced them while this one waited.
      const inUse = await deps.souls.applied(deps.agent);
      await sync({ ...deps, write }, inUse, await deps.file.read());
      seen = markOf(deps.file.glance(), inUse?.number);
      return inUse ?? deps.souls.applied(deps.agent);
    });
  };
  const inTurn = (when: Moment) => turns.hold(() => look(when));
  return {
    name: SOUL,
    /** Whether the file and the version in use are unchanged since the last look. Reads the disk alone. */
    isUnchanged: (inUse: number | null) => markOf(deps.file.glance(), inUse) === seen,
    /** Syncs the file if it, or the version in use, has changed. */
    async look(when: Moment): Promise<void> {
      await inTurn(when);
    },
    async current() {
      try {
        return await inTurn('settled');
      } catch (error) {
        deps.log.warn({ reason: reasonOf(error) }, 'SOUL.md could not be looked at');
        return deps.souls.applied(deps.agent);
      }
    },
  } satisfies GovernedFile & Record<string, unknown>;
}

function markOf(glance: ReturnType<SoulFile['glance']>, applied?: number | null): string {
  return `${glance?.fingerprint ?? 'none'} ${applied ?? 'none'}`;
}

async function sync(
  deps: SoulGuardOptions & { readonly write: WriteSoul },
  applied: SoulVersion | null,
  onDisk: SoulOnDisk,
): Promise<void> {
  const { agent, souls, clock, log } = deps;
  if (onDisk.kind === 'obstacle') {
    log.warn({ detail: onDisk.detail }, 'SOUL.md is left as it is: its text is not used');
    return;
  }
  if (applied === null) {
    if (onDisk.kind === 'missing' || onDisk.isBlank) return;
    const { text, head } = onDisk;
    if (await souls.seed(agent, { text, head, by: null }, clock())) {
      log.info({ agent }, 'SOUL.md is v0-seed from now on');
    }
    return;
  }
  if (onDisk.kind === 'file' && onDisk.text === applied.text) {
    if (onDisk.head !== applied.head) await souls.keepHead(agent, applied.number, onDisk.head);
    return;
  }
  // A text that was in use is stored already; an empty file has nothing to lose.
  const isEdit = onDisk.kind === 'file' && onDisk.text !== '';
  if (isEdit && !(await souls.wasApplied(agent, onDisk.text))) {
    await keepEdit(deps, applied, onDisk);
  }
  const head = onDisk.kind === 'file' ? onDisk.head : applied.head;
  const written = await deps.write(applied.text, head);
  if (written.kind === 'refused') {
    log.warn({ detail: written.detail }, 'SOUL.md could not be written; the text in use counts');
  } else log.info({ version: applied.number }, 'SOUL.md is written again as it is in use');
}

async function keepEdit(
  { agent, souls, clock, log }: SoulGuardOptions,
  applied: SoulVersion,
  { text, head }: Pick<SoulVersion, 'text' | 'head'>,
): Promise<void> {
  const print = createHash('sha256').update(text).digest('hex').slice(0, 24);
  const proposal = await souls.propose(
    agent,
    {
      askedBy: `edit:${print}:${applied.number}`,
      text,
      head,
      author: 'person',
      by: BY_HAND,
      reason: 'edited by hand',
      basedOn: applied.number,
      diff: soulDiff(applied.text, text),
    },
    MOST_EDITS,
    clock(),
  );
  if (proposal.kind === 'proposed') {
    log.info({ version: proposal.version.number }, 'an edit of SOUL.md waits as a proposal');
  }
}

export const BY_HAND = 'an editor';
