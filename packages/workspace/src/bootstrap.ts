import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, type NewId, reasonOf } from '@parley/core';
import { z } from 'zod';
import { type FileName, walkPath } from './paths.ts';
import { createLocalLock, type WorkspaceLock } from './workspace-lock.ts';
import { createFolders, writeFileInside } from './write-file.ts';

/** The file is hidden, so that views do not show it and tools do not write it. */
const MARK: FileName = { name: '.parley/bootstrap.json', segments: ['.parley', 'bootstrap.json'] };
const FILE = 'BOOTSTRAP.md';
const ARCHIVE = 'archive';

interface BootstrapOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly newId: NewId;
  readonly log: Logger;
  readonly lock: WorkspaceLock;
}

/**
 * The lifecycle of BOOTSTRAP.md, whose progress is stored in the workspace itself, so that it
 * survives restarts (W08).
 */
export class Bootstrap {
  readonly #options: BootstrapOptions;
  readonly #laneLock = createLocalLock();

  constructor(options: BootstrapOptions) {
    this.#options = options;
  }

  /**
   * Reads the progress of BOOTSTRAP.md; null if there is no conversation to guide. Never throws.
   */
  async mark(): Promise<BootstrapMark | null> {
    const { folder, log } = this.#options;
    try {
      if (walkPath(folder, MARK).kind !== 'file') return null;
      const content = await readFile(join(folder, ...MARK.segments), 'utf8');
      return BootstrapMark.parse(JSON.parse(content));
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, `${MARK.name} in the workspace cannot be used`);
      return null;
    }
  }

  /** Writes the progress of BOOTSTRAP.md; a failure is logged. */
  async keep(mark: BootstrapMark): Promise<void> {
    const { folder, newId, lock, log } = this.#options;
    const bytes = Buffer.from(`${JSON.stringify(mark)}\n`);
    // Once BOOTSTRAP.md guides a session, only the turns of that conversation count, and they run
    // one at a time.
    const leads = mark.state === 'started' && mark.turns > 1;
    const failed = await (leads ? this.#laneLock : lock)
      .hold((hold) => writeFileInside(folder, MARK, bytes, { newId, hold }))
      .then((result) => (result.kind === 'written' ? null : result.detail), reasonOf);
    if (failed !== null) log.warn({ reason: failed }, `${MARK.name} could not be written`);
  }

  /** Moves BOOTSTRAP.md into `archive/` under a unique name, and removes its progress. */
  async retire(): Promise<void> {
    const { folder, lock, log } = this.#options;
    try {
      const place = await lock.hold(async () => {
        const moved = await archiveBootstrap(folder);
        await rm(join(folder, ...MARK.segments), { force: true });
        return moved;
      });
      if (place !== null)
        log.info({ place }, 'the first conversation is over: BOOTSTRAP.md archived');
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'BOOTSTRAP.md could not be archived');
    }
  }
}

/** Moves BOOTSTRAP.md to an unused name; null if the file does not exist. Throws disk errors. */
async function archiveBootstrap(folder: string): Promise<string | null> {
  if (walkPath(folder, { segments: [FILE] }).kind !== 'file') return null;
  const blocked = await createFolders(folder, [ARCHIVE]);
  if (blocked !== null) throw new Error(blocked.detail);
  for (let copy = 1; ; copy += 1) {
    const name = copy === 1 ? FILE : `BOOTSTRAP-${copy}.md`;
    if (walkPath(folder, { segments: [ARCHIVE, name] }).kind !== 'missing') continue;
    await rename(join(folder, FILE), join(folder, ARCHIVE, name));
    return `${ARCHIVE}/${name}`;
  }
}

/**
 * The progress of a workspace's BOOTSTRAP.md (W08), as stored between starts. `new`: Parley created
 * the workspace and no owner has written yet. `started`: the file guides this session of this
 * conversation and has guided `turns` of its turns; `messageId` started the last of these turns.
 */
export const BootstrapMark = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('new') }),
  z.strictObject({
    state: z.literal('started'),
    conversationId: z.string(),
    session: z.int().nonnegative(),
    messageId: z.string(),
    turns: z.int().positive(),
  }),
]);
export type BootstrapMark = z.infer<typeof BootstrapMark>;

/** The number of turns after which the first conversation ends. */
const BOOTSTRAP_TURNS = 20;

/** A turn in which an owner writes in a direct chat. */
export interface OwnerTurn {
  readonly conversationId: string;
  readonly session: number;
  /** The id of the message that starts the turn, so that a repeated turn counts once. */
  readonly messageId: string;
}

/** The decision about BOOTSTRAP.md in this turn; `mark` is stored if it guides the turn. */
export type BootstrapDecision =
  | { readonly kind: 'leave-out' }
  | { readonly kind: 'lead'; readonly mark: BootstrapMark }
  | { readonly kind: 'retire' };

/**
 * BOOTSTRAP.md guides only the first session in which an owner writes to a new workspace. It is
 * retired when that session ends (`/new`), after `BOOTSTRAP_TURNS`, or when the file is removed.
 * `mark` is null if Parley did not create the workspace or BOOTSTRAP.md is retired.
 */
export function decideBootstrap(
  mark: BootstrapMark | null,
  saysSomething: boolean,
  { conversationId, session, messageId }: OwnerTurn,
): BootstrapDecision {
  if (mark === null) return { kind: 'leave-out' };
  if (!saysSomething) return { kind: 'retire' };
  if (mark.state === 'new') {
    const started = { state: 'started', conversationId, session, messageId, turns: 1 } as const;
    return { kind: 'lead', mark: started };
  }
  if (mark.conversationId !== conversationId) return { kind: 'leave-out' };
  if (mark.session !== session) return { kind: 'retire' };
  if (mark.messageId === messageId) return { kind: 'lead', mark };
  if (mark.turns >= BOOTSTRAP_TURNS) return { kind: 'retire' };
  return { kind: 'lead', mark: { ...mark, messageId, turns: mark.turns + 1 } };
}
