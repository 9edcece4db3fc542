import { type Clock, type Logger, reasonOf, rejectOnAbort } from '@parley/core';
import type { StartSweep, WakeUpQueue } from '@parley/queue';
import type { AttachmentRepository, DueAttachment, SenderKey } from '@parley/store';
import type { FilesCapability } from '../adapter.ts';
import { chooseFetches, createFetchTurnTracker } from './choose-fetches.ts';
import { decideAfterFetchFailure, type MediaLimits, planFetch } from './fetch-plan.ts';

/** Fetches the files sent to one account, in the process that owns its connection. */
export interface AttachmentFetcher {
  /** Signals that attachments may be waiting to be fetched. */
  wake(): void;
  /** Fetches in progress are aborted, and repeated at the next start. */
  close(): Promise<void>;
}

export interface AttachmentFetcherDeps {
  readonly attachments: AttachmentRepository;
  /** Undefined when the adapter does not support files. */
  readonly files: FilesCapability | undefined;
  readonly lanes: Pick<WakeUpQueue, 'wake'>;
  readonly limits: MediaLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

interface AttachmentFetcherOptions {
  readonly channel: string;
  readonly account: string;
  readonly sweep: StartSweep;
  /** The timeout of one fetch attempt, in ms; 30 s when absent. */
  readonly timeoutMs?: number;
}

/**
 * The number of rows to read: enough for at least one message per person, each with at most 32
 * attachments.
 */
const LOOKED_AT = 128;
const TIMEOUT_MS = 30_000;

/**
 * Starts fetching, and sweeps for attachments left by an earlier run or due for a retry.
 * `chooseFetches` alternates between people. A message's lane is woken when one of its files is
 * stored or given up.
 */
export function startAttachmentFetcher(
  deps: AttachmentFetcherDeps,
  options: AttachmentFetcherOptions,
): AttachmentFetcher {
  const { channel, account } = options;
  const closing = new AbortController();
  const running = new Map<number, DueAttachment & { readonly ended: Promise<void> }>();
  const turns = createFetchTurnTracker();
  let wanted = false;
  let looking: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    while (wanted && !closing.signal.aborted) {
      wanted = false;
      const due = await deps.attachments.due(channel, account, deps.clock(), LOOKED_AT);
      // A fetch completed or a file arrived during the query, so these rows may be outdated.
      if (wanted) continue;
      for (const one of chooseFetches(due, [...running.values()], turns)) begin(one);
    }
  };
  const begin = (one: DueAttachment): void => {
    const others = [...running.values()].filter(({ person }) => person === one.person);
    const order = { ...one, channel, account, inFlight: sumFetchSizes(others, deps.limits) };
    const ended = fetchAttachment(deps, order, closing.signal, options.timeoutMs ?? TIMEOUT_MS)
      .catch((error: unknown) => {
        deps.log.warn({ reason: reasonOf(error) }, 'attachment not stored; it will be retried');
        return false;
      })
      .then((isOver) => {
        running.delete(one.messageSeq);
        // A result that could not be stored waits for the sweep, because an immediate retry would
        // loop without a pause.
        if (isOver) wake();
      });
    running.set(one.messageSeq, { ...one, ended });
  };
  const wakeAndLook = (): Promise<void> => {
    wanted = true;
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  const wake = (): void =>
    void wakeAndLook().catch((error: unknown) =>
      deps.log.warn({ reason: reasonOf(error) }, 'attachments not looked up; the sweep will do it'),
    );
  const sweep = options.sweep(wakeAndLook);
  return {
    wake,
    async close() {
      closing.abort();
      await sweep.stop();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  };
}

/** An attachment to fetch, and the totals of the fetches in progress for its sender. */
interface FetchRequest extends DueAttachment, SenderKey {
  readonly inFlight: StoredTotals;
}

interface StoredTotals {
  readonly files: number;
  readonly bytes: number;
}

/** The number of files, and the maximum number of bytes, that the fetches in progress can add. */
function sumFetchSizes(
  fetches: readonly DueAttachment[],
  { fileBytes }: MediaLimits,
): StoredTotals {
  const sizes = fetches.map(({ attachment }) => attachment.size ?? fileBytes);
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Returns true once the outcome of the fetch is recorded. */
async function fetchAttachment(
  deps: AttachmentFetcherDeps,
  due: FetchRequest,
  closing: AbortSignal,
  timeoutMs: number,
): Promise<boolean> {
  const { attachments, files, clock } = deps;
  const giveUp = async (why: string): Promise<void> => {
    await attachments.fail(due, why, clock());
    await deps.lanes.wake(due.conversationId);
  };
  const room = {
    all: await getTotalQuota(deps),
    sender: await getSenderQuota(deps, due, due.attachment.size),
  };
  const plan = planFetch(due, deps.limits, files?.maxBytes ?? 0, room);
  if (files === undefined || plan.kind === 'refuse') {
    await giveUp(plan.kind === 'refuse' && files !== undefined ? plan.why : NO_FILES);
    return true;
  }
  let bytes: Uint8Array;
  try {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]);
    // An adapter that ignores its signal must not delay everyone else's files.
    const fetching = files.fetch(due.attachment.ref, plan.limit, signal);
    bytes = await rejectOnAbort(fetching, signal, () => new Error('fetching took too long'));
  } catch (thrown) {
    if (closing.aborted) return false;
    const next = decideAfterFetchFailure(thrown, due.attempts);
    const facts = { kind: due.attachment.kind, attempt: due.attempts + 1, next: next.kind };
    deps.log.warn({ ...facts, reason: reasonOf(thrown) }, 'attachment not fetched');
    if (next.kind === 'give-up') await giveUp(next.why);
    else await attachments.retryLater(due, clock() + next.inMs, clock());
    return true;
  }
  if (bytes.byteLength > plan.limit) await giveUp(plan.why);
  else {
    await attachments.keep(due, bytes, clock());
    await deps.lanes.wake(due.conversationId);
  }
  return true;
}

type QuotaDeps = Pick<AttachmentFetcherDeps, 'attachments' | 'limits' | 'clock'>;

/**
 * Whether `needed` more bytes may be kept, in total and for this sender. Files that no turn needs
 * are deleted to free space. Owners have no `sender` and no share.
 */
export async function hasFreeSpace(
  deps: QuotaDeps,
  needed: number,
  sender: SenderKey | null,
): Promise<boolean> {
  const nothing = { files: 0, bytes: 0 };
  const own =
    sender === null
      ? Number.POSITIVE_INFINITY
      : await getSenderQuota(deps, { ...sender, fromOwner: false, inFlight: nothing }, needed);
  return own >= needed && (await getTotalQuota(deps, needed)) >= needed;
}

/**
 * The remaining bytes for a sender's files; files of this sender that no turn needs are deleted to
 * free space.
 */
async function getSenderQuota(
  { attachments, limits }: QuotaDeps,
  {
    channel,
    account,
    person,
    fromOwner,
    inFlight,
  }: Omit<FetchRequest, keyof DueAttachment> & Pick<FetchRequest, 'person' | 'fromOwner'>,
  needed: number = limits.fileBytes,
): Promise<number> {
  if (fromOwner) return Number.POSITIVE_INFINITY;
  const sender = { channel, account, person };
  const left = async (): Promise<number> => {
    const kept = await attachments.keptOf(sender);
    if (kept.files + inFlight.files >= limits.personFiles) return 0;
    return Math.max(limits.personBytes - kept.bytes - inFlight.bytes, 0);
  };
  const before = await left();
  if (before >= needed) return before;
  await attachments.forgetOf(sender);
  return left();
}

/** The remaining bytes for all files; files that no turn needs are deleted early to free space. */
async function getTotalQuota(
  { attachments, limits, clock }: QuotaDeps,
  needed: number = limits.fileBytes,
): Promise<number> {
  const room = limits.keptBytes - (await attachments.bytesKept());
  if (room >= needed) return room;
  await attachments.forget(clock(), clock());
  return limits.keptBytes - (await attachments.bytesKept());
}

const NO_FILES = 'I cannot fetch files from this channel';
