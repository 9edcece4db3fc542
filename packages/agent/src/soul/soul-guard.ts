import { createHash } from 'node:crypto';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { SoulRepository, SoulVersion } from '@parley/store';
import {
  type GovernedFile,
  SOUL,
  type SoulFile,
  type SoulOnDisk,
  type WriteSoul,
} from '@parley/workspace';
import { soulDiff } from './soul-text.ts';

/** What guarding SOUL.md needs. */
export interface SoulGuardDeps {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly file: SoulFile;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the file a copy of the version in use, and what people write into it as proposals (W06). */
export interface SoulGuard extends GovernedFile {
  /** Looks at the file if it, or the version in use, has changed. */
  look(when: Moment): Promise<void>;
  /** Whether the file and the version in use are those of the last look. Asks the disk alone. */
  isUnchanged(inUse: number | null): boolean;
}

/** `at-once`: also when somebody may be writing the file still. */
type Moment = 'at-once' | 'settled';

/** An editor may still be writing a file that changed less than this ago. In ms. */
const SETTLED_MS = 1_000;
/** Edits that wait at a time; the oldest makes room. */
const MOST_EDITS = 5;

/** A guard for one agent. Costs a look into the database and one at the file, unless something changed. */
export function createSoulGuard(deps: SoulGuardDeps): SoulGuard {
  let seen = '';
  let last: Promise<unknown> = Promise.resolve();
  const look = async (when: Moment): Promise<SoulVersion | null> => {
    const applied = await deps.souls.applied(deps.agent);
    const glance = deps.file.glance();
    if (markOf(glance, applied?.number) === seen) return applied;
    const age = glance === null ? SETTLED_MS : deps.clock() - glance.changedAt;
    if (when === 'settled' && age >= 0 && age < SETTLED_MS) return applied;
    return deps.file.alone(async (write) => {
      // Another process may have brought them together while this one waited.
      const inUse = await deps.souls.applied(deps.agent);
      await bringTogether({ ...deps, write }, inUse, await deps.file.read());
      seen = markOf(deps.file.glance(), inUse?.number);
      return inUse ?? deps.souls.applied(deps.agent);
    });
  };
  // One after another: two looks at the same edit would both put the file back.
  const inTurn = (when: Moment): Promise<SoulVersion | null> => {
    const next = last.then(() => look(when));
    last = next.catch(() => {});
    return next;
  };
  return {
    name: SOUL,
    isUnchanged: (inUse) => markOf(deps.file.glance(), inUse) === seen,
    async look(when) {
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
  };
}

function markOf(glance: ReturnType<SoulFile['glance']>, applied?: number | null): string {
  return `${glance?.fingerprint ?? 'none'} ${applied ?? 'none'}`;
}

/** What is to be done about a difference between file and database. */
async function bringTogether(
  deps: SoulGuardDeps & { readonly write: WriteSoul },
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
  // What was in use once is there; in an empty file there is nothing to lose.
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

/** A person’s own writing is not lost: it waits as a proposal, once. */
async function keepEdit(
  { agent, souls, clock, log }: SoulGuardDeps,
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

/** Who changed the file itself; more is not known of them. */
export const BY_HAND = 'an editor';
