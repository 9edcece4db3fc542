import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, type NewId, reasonOf } from '@parley/contracts';
import { z } from 'zod';
import { type FileName, walkPath } from './paths.ts';
import {
  localLock,
  makeFolders,
  type WorkspaceLock,
  type WritingFile,
  writeFileInside,
} from './write-file.ts';

/** The life of BOOTSTRAP.md; its mark is kept in the workspace itself so that it survives restarts (W08). */
export interface Bootstrap {
  /** How far it has come; null when there is nothing to lead. Never throws. */
  mark(): Promise<BootstrapMark | null>;
  /** Keeps a mark; logs when it cannot. */
  keep(mark: BootstrapMark): Promise<void>;
  /** Puts BOOTSTRAP.md into `archive/`, under a name of its own, and forgets the mark. */
  retire(): Promise<void>;
}

/** Hidden, so that no view shows it and no tool writes it. */
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

/** The life of BOOTSTRAP.md in `folder`. */
export function openBootstrap(options: BootstrapOptions): Bootstrap {
  const { folder, newId, log, lock } = options;
  const ofLane = localLock();
  return {
    mark: () => readMark(options),
    async keep(mark) {
      // Once it leads a session only the turns of that conversation count it, and they run one at a time.
      const leads = mark.state === 'begun' && mark.turns > 1;
      const kept = await (leads ? ofLane : lock)
        .hold((hold) => keepMark(folder, mark, { newId, hold }))
        .catch(reasonOf);
      if (kept !== null) log.warn({ reason: kept }, 'the first conversation could not be noted');
    },
    async retire() {
      try {
        const place = await lock.hold(async () => {
          const away = await putAway(folder);
          await rm(join(folder, ...MARK.segments), { force: true });
          return away;
        });
        if (place !== null) log.info({ place }, 'the first conversation is over: put away');
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'BOOTSTRAP.md could not be put away');
      }
    },
  };
}

/** Writes the mark; null, or why that did not work. */
async function keepMark(
  folder: string,
  mark: BootstrapMark,
  how: WritingFile,
): Promise<string | null> {
  const bytes = Buffer.from(`${JSON.stringify(mark)}\n`);
  const result = await writeFileInside(folder, MARK, bytes, how);
  return result.kind === 'written' ? null : result.detail;
}

async function readMark({ folder, log }: BootstrapOptions): Promise<BootstrapMark | null> {
  try {
    if (walkPath(folder, MARK).kind !== 'file') return null;
    const content = await readFile(join(folder, ...MARK.segments), 'utf8');
    return BootstrapMark.parse(JSON.parse(content));
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, `${MARK.name} of the workspace is of no use`);
    return null;
  }
}

/** Moves the file where nothing is yet; null when there is no such file. Throws what the disk says. */
async function putAway(folder: string): Promise<string | null> {
  if (walkPath(folder, { segments: [FILE] }).kind !== 'file') return null;
  const blocked = await makeFolders(folder, [ARCHIVE]);
  if (blocked !== null) throw new Error(blocked.detail);
  for (let copy = 1; ; copy += 1) {
    const name = copy === 1 ? FILE : `BOOTSTRAP-${copy}.md`;
    if (walkPath(folder, { segments: [ARCHIVE, name] }).kind !== 'missing') continue;
    await rename(join(folder, FILE), join(folder, ARCHIVE, name));
    return `${ARCHIVE}/${name}`;
  }
}

/**
 * How far BOOTSTRAP.md of a workspace has come (W08), as it is kept between starts. `new`: Parley made
 * the workspace and no owner has talked yet. `begun`: it leads this session of this conversation, has
 * led `turns` of it, and `messageId` leads the last of them.
 */
export const BootstrapMark = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('new') }),
  z.strictObject({
    state: z.literal('begun'),
    conversationId: z.string(),
    session: z.int().nonnegative(),
    messageId: z.string(),
    turns: z.int().positive(),
  }),
]);
export type BootstrapMark = z.infer<typeof BootstrapMark>;

/** After this many turns the first conversation is over, whatever was said. */
export const BOOTSTRAP_TURNS = 20;

/** A turn in which an owner talks in a direct chat. */
export interface OwnersTurn {
  readonly conversationId: string;
  readonly session: number;
  /** Of the message that leads the turn: a turn that is run again counts once. */
  readonly messageId: string;
}

/** What to do with BOOTSTRAP.md in this turn; `mark` is what to keep when it leads. */
export type BootstrapStep =
  | { readonly kind: 'leave-out' }
  | { readonly kind: 'lead'; readonly mark: BootstrapMark }
  | { readonly kind: 'retire' };

/**
 * BOOTSTRAP.md leads the first session in which an owner talks with a new workspace, and no other. It
 * is retired with that session (`/new`), after `BOOTSTRAP_TURNS`, or when somebody took it away.
 * `mark` is null where Parley did not make the workspace, or BOOTSTRAP.md is retired.
 */
export function decideBootstrap(
  mark: BootstrapMark | null,
  saysSomething: boolean,
  { conversationId, session, messageId }: OwnersTurn,
): BootstrapStep {
  if (mark === null) return { kind: 'leave-out' };
  if (!saysSomething) return { kind: 'retire' };
  if (mark.state === 'new') {
    const begun = { state: 'begun', conversationId, session, messageId, turns: 1 } as const;
    return { kind: 'lead', mark: begun };
  }
  if (mark.conversationId !== conversationId) return { kind: 'leave-out' };
  if (mark.session !== session) return { kind: 'retire' };
  if (mark.messageId === messageId) return { kind: 'lead', mark };
  if (mark.turns >= BOOTSTRAP_TURNS) return { kind: 'retire' };
  return { kind: 'lead', mark: { ...mark, messageId, turns: mark.turns + 1 } };
}
