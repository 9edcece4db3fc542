import { reasonOf, resolveBusyMode } from '@parley/core';
import type { StopReason } from '@parley/queue';
import { type InboxRow, isSameDestination, type Lease } from '@parley/store';
import type { TimedAnswer, TurnJournal } from '../loop/turn-journal.ts';
import type { TurnServices } from '../turn/means.ts';
import type { Turn } from '../turn/turn.ts';

export type LaterMessages = ReturnType<typeof openLaterMessages>;

/** Decides what happens to messages that arrive while a turn runs (D03). */
export function openLaterMessages(
  services: TurnServices,
  turn: Turn,
  journal: TurnJournal,
  lease: Lease,
  signal: AbortSignal,
) {
  const { turnId, mode, lead, format } = turn;
  const busy = resolveBusyMode(services.busy, lead.message);
  const interruption =
    busy === 'interrupt' ? watchForInterruption(services, turn, journal, lease) : null;
  // A turn that has already acted must not be restarted, or it would act twice. Messages that
  // arrive after an action join the turn instead.
  const joins = () => format === undefined && (busy === 'steer' || interruption?.isOver() === true);
  return {
    /** Fires when the given signal fires or when a later message ends the turn. */
    signal: interruption === null ? signal : AbortSignal.any([signal, interruption.signal]),
    /** After this call, no later message ends the turn. */
    beforeActing: async () => interruption?.close(),
    async join(answer?: TimedAnswer): ReturnType<TurnJournal['join']> {
      if (!joins()) return 'none';
      return journal.join(
        (steps) =>
          services.store.lanes.join(
            lease,
            { turnId, mode, steps, mayJoin: (row) => canJoinTurn(turn, row) },
            services.clock(),
          ),
        answer,
      );
    },
    end: () => interruption?.end(),
  };
}

/**
 * Whether a message that arrived during a turn may join it (D03). The permissions of a turn were
 * derived from its first messages, so only the same person in the same conversation may add to it.
 * That person may add only text: files, commands and messages from Parley wait for a separate turn.
 */
export function canJoinTurn(
  { messages, lead }: Pick<Turn, 'messages' | 'lead'>,
  row: InboxRow,
): boolean {
  const { message } = row;
  return (
    messages.every((one) => one.message.trigger === undefined) &&
    message.trigger === undefined &&
    message.responseFormat === undefined &&
    isSameDestination(row.route, lead.route) &&
    toSenderContextKey(row) === toSenderContextKey(lead) &&
    row.fromOwner === lead.fromOwner &&
    message.attachments === undefined &&
    !message.text.trimStart().startsWith('/')
  );
}

/** The sender, conversation and variables of a message, which the turn's facts are derived from. */
function toSenderContextKey({
  message: { channel, account, chat, sender, variables },
}: InboxRow): string {
  const said = Object.entries(variables).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([channel, account, chat.id, chat.type, chat.threadId, sender.id, said]);
}

/**
 * Starts watching for a message that ends the turn. The database decides; the live event only
 * triggers the check, and if it is lost the message waits as with `collect`. A turn that already
 * has steps from an earlier run is never ended.
 */
function watchForInterruption(
  { store, bus, clock, log }: TurnServices,
  { turnId, conversationId }: Turn,
  journal: TurnJournal,
  lease: Lease,
) {
  const ended = new AbortController();
  const interrupted: StopReason = 'interrupted';
  let isOver = journal.rounds().length > 0 || journal.answer !== null;
  let looking: Promise<void> | null = null;
  let wanted = false;
  let timer: NodeJS.Timeout | undefined;
  const lookOnce = async (): Promise<void> => {
    const found = await store.lanes.interrupt(lease, turnId, clock());
    if (found.kind === 'interrupted') ended.abort(interrupted);
    else if (found.kind === 'later' && !isOver) timer = setTimeout(look, found.retryInMs);
  };
  const lookWhileWanted = async (): Promise<void> => {
    while (wanted && !isOver && !ended.signal.aborted) {
      wanted = false;
      await lookOnce();
    }
  };
  const look = (): void => {
    clearTimeout(timer);
    wanted = true;
    looking ??= lookWhileWanted()
      .catch((error: unknown) =>
        log.warn({ turn: turnId, reason: reasonOf(error) }, 'could not check for later messages'),
      )
      .finally(() => {
        looking = null;
      });
  };
  const unsubscribe = bus.subscribe((event) => {
    if (event.type === 'message-waiting' && event.conversationId === conversationId) look();
  });
  // A message that arrived between the claim and the subscription was not announced by an event.
  look();
  return {
    signal: ended.signal,
    isOver: () => isOver,
    /**
     * Called before the turn acts or answers. When it returns, the turn either has been ended or
     * can no longer be ended.
     */
    async close() {
      isOver = true;
      clearTimeout(timer);
      await looking;
    },
    end() {
      isOver = true;
      clearTimeout(timer);
      unsubscribe();
    },
  };
}
