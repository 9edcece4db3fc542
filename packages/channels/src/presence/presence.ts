import {
  type LiveBus,
  type LiveEvent,
  type LiveToolCall,
  type Logger,
  type RenderTarget,
  type ReplyRoute,
  reasonOf,
} from '@parley/core';
import { createPrefixRenderer } from '@parley/markup';
import type { ChatKey } from '@parley/store';
import type { ChannelAdapter, ChatAddress, StreamingCapability } from '../adapter.ts';

/** Typing indicators and growing answers of running turns (F12). */
export interface Presence {
  close(): void;
}

export interface PresenceDeps {
  readonly bus: LiveBus;
  readonly adapterOf: (channel: string, account: string) => ChannelAdapter | undefined;
  /**
   * Whether the platform's rate limits permit a preview now; previews are always permitted when
   * absent.
   */
  readonly mayPreview?: ((route: ReplyRoute) => boolean) | undefined;
  /**
   * The minimum interval between two updates of a growing answer, in addition to the platform's own
   * limit.
   */
  readonly updateEveryMs?: ((route: ReplyRoute) => number) | undefined;
  /** Whether an earlier part of the chat is still pending. */
  readonly owes: (chat: ChatKey) => Promise<boolean>;
  readonly log: Logger;
}

/**
 * Presence ends after this time (F12) even if the end of a turn is never published; it is twice the
 * longest model call.
 */
const MAX_TURN_MS = 20 * 60_000;

type TurnDelta = Pick<
  Extract<LiveEvent, { type: 'turn-delta' }>,
  'text' | 'step' | 'replyToMessageId'
>;

/** The presence of one turn in its chat. */
interface PresenceIndicator {
  /** The answer has grown; in a later step the text starts again from the beginning. */
  grow(delta: TurnDelta): void;
  /** A tool call has started or completed. */
  call(call: LiveToolCall): void;
  end(comes: FollowUpKind): void;
}

type FollowUpKind = Parameters<StreamingCapability['end']>[2];

const AFTER: Readonly<Record<Extract<LiveEvent, { type: 'turn-ended' }>['outcome'], FollowUpKind>> =
  {
    answered: 'answer',
    failed: 'answer',
    silent: 'nothing',
    stopped: 'nothing',
    // The next answer covers more than the preview.
    interrupted: 'nothing',
    fenced: 'later',
    'handed-back': 'later',
    suspended: 'later',
    // Unfinished previews are removed while the model is unavailable.
    'put-off': 'nothing',
  };

/** Shows typing and growing answers for every turn whose chat this process serves. */
export function startPresence(deps: PresenceDeps): Presence {
  const signs = new Map<string, PresenceIndicator>();
  const end = (turnId: string, comes: FollowUpKind = 'later'): void => {
    signs.get(turnId)?.end(comes);
    signs.delete(turnId);
  };
  const begin = (event: Extract<LiveEvent, { type: 'turn-started' }>): void => {
    const { turnId, route, messageId, alsoAnswered = [] } = event;
    // The same turn starts again, because its first run crashed without publishing an event.
    end(turnId);
    const adapter = deps.adapterOf(route.channel, route.account);
    if (!adapter) return;
    const { channel, account, chatId } = route;
    const address = toChatAddress(route);
    const owes = () => deps.owes({ channel, account, chatId });
    const mayPreview = () => deps.mayPreview?.(route) ?? true;
    const leastMs = deps.updateEveryMs?.(route) ?? 0;
    const shown = { address, turnId, target: route.target, owes, mayPreview, leastMs };
    const sign = showPresenceIndicator(adapter, shown, deps.log);
    const react = adapter.messages?.react;
    const endReaction =
      messageId !== undefined && route.acknowledge !== undefined && react !== undefined
        ? showReaction((emoji) => react(address, messageId, emoji), route.acknowledge, deps.log)
        : () => {};
    const timer = setTimeout(() => end(turnId), MAX_TURN_MS).unref();
    const endAll = (comes: FollowUpKind): void => {
      clearTimeout(timer);
      endReaction();
      sign.end(comes);
      if (comes === 'later') return;
      for (const other of alsoAnswered) {
        adapter.streaming
          ?.end(toChatAddress(other), turnId, 'nothing')
          .catch(createStreamEndLogger(deps.log, turnId));
      }
    };
    signs.set(turnId, { grow: sign.grow, call: sign.call, end: endAll });
  };
  const unsubscribe = deps.bus.subscribe((event) => {
    if (event.type === 'turn-started') begin(event);
    else if (event.type === 'turn-delta') {
      signs.get(event.turnId)?.grow(event);
    } else if (event.type === 'tool-call') signs.get(event.turnId)?.call(event);
    else if (event.type === 'turn-ended') end(event.turnId, AFTER[event.outcome]);
  });
  return {
    close() {
      unsubscribe();
      for (const turnId of [...signs.keys()]) end(turnId);
    },
  };
}

function toChatAddress({ chatId, threadId, replyToMessageId, response }: ReplyRoute): ChatAddress {
  return { chatId, threadId, replyToMessageId, response };
}

function createStreamEndLogger(log: Logger, turnId: string) {
  return (error: unknown): void =>
    log.debug({ turn: turnId, reason: reasonOf(error) }, 'end of the stream not shown');
}

interface DisplayedTurn {
  readonly address: ChatAddress;
  readonly turnId: string;
  readonly target: RenderTarget;
  readonly owes: () => Promise<boolean>;
  readonly mayPreview: () => boolean;
  readonly leastMs: number;
}

function showPresenceIndicator(
  { typing, streaming }: ChannelAdapter,
  shown: DisplayedTurn,
  log: Logger,
): PresenceIndicator {
  const stopTyping = typing ? startTyping(typing, shown.address, log) : () => {};
  const stream = streaming ? streamAnswer(streaming, shown, log) : null;
  return {
    grow: (delta) => stream?.grow(delta),
    call: ({ callId, tool, about, state, ms }) =>
      streaming?.call?.(shown.address, shown.turnId, { callId, tool, about, state, ms }),
    end(comes) {
      stopTyping();
      stream?.end(comes);
    },
  };
}

/**
 * The maximum number of characters rendered per ms. Each update renders the whole growing answer,
 * which takes up to 5 ms per 1,000 characters. A long answer is therefore updated less often, so
 * that rendering takes no more than about a tenth of the time.
 */
const SHOWN_PER_MS = 20;

/**
 * How many messages of a growing answer are shown; a longer answer is eventually sent as a file.
 */
const MAX_SHOWN_MESSAGES = 20;

function streamAnswer(
  streaming: StreamingCapability,
  shown: DisplayedTurn,
  log: Logger,
): Pick<PresenceIndicator, 'grow' | 'end'> {
  const { turnId, target, owes, mayPreview, leastMs } = shown;
  let { address } = shown;
  let isItsTurn = false;
  const maxLength = streaming.maxLength ?? target.maxLength;
  let answer = createPrefixRenderer({ ...target, maxLength });
  let shownStep = 0;
  let length = 0;
  const pace = () => (streaming.pace ? streaming.pace(address, length) : streaming);
  const updates = createThrottle(
    {
      intervalMs: () =>
        Math.max(leastMs, (pace() ?? streaming).minIntervalMs, length / SHOWN_PER_MS),
      firstAfterMs: () => (pace() ?? streaming).firstAfterMs ?? 0,
    },
    log,
    async () => {
      // Parts of earlier answers that a slow platform has not accepted yet come before this answer
      // (D02).
      isItsTurn ||= !(await owes());
      if (isItsTurn && mayPreview()) await streaming.update(address, turnId, answer);
    },
  );
  const endStream = async (comes: FollowUpKind): Promise<void> => {
    // Without waiting, an update in progress would be shown after the end.
    await updates.cancel();
    await streaming.end(address, turnId, comes);
  };
  return {
    grow({ text, step = 0, replyToMessageId }) {
      // Text from before a tool call stays visible until new text arrives.
      if (step !== shownStep) {
        answer = createPrefixRenderer({ ...target, maxLength });
        length = 0;
      }
      shownStep = step;
      if (length >= MAX_SHOWN_MESSAGES * maxLength) return;
      length += text.length;
      if (replyToMessageId !== undefined) address = { ...address, replyToMessageId };
      answer.push(text);
      if (pace() !== null) updates.request();
    },
    end(comes) {
      endStream(comes).catch(createStreamEndLogger(log, turnId));
    },
  };
}

/** Runs a task at most once per interval and never concurrently; the last request is never lost. */
export interface Throttle {
  request(): void;
  /** Stops starting runs; resolves once a run in progress has completed. */
  cancel(): Promise<void>;
}

/**
 * Creates a throttle around `task`; a failure of the task is logged, and the next request runs the
 * task again.
 * @param firstAfterMs delay between the first request and its run, in ms.
 */
function createThrottle(
  {
    intervalMs,
    firstAfterMs,
  }: { readonly intervalMs: () => number; readonly firstAfterMs: () => number },
  log: Logger,
  task: () => Promise<void>,
): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let state: 'idle' | 'busy' | 'wanted' = 'idle';
  let isFirst = true;
  let cancelled = false;
  let underWay = Promise.resolve();
  const run = async (): Promise<void> => {
    state = 'busy';
    try {
      await task();
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, 'stream update failed');
    }
    // The interval starts when the run ends, so that a slow platform is called less often.
    if (!cancelled) timer = setTimeout(cooled, intervalMs()).unref();
  };
  const begin = (): void => {
    underWay = run();
  };
  const beginFirst = (): void => {
    isFirst = false;
    const waitMs = firstAfterMs();
    if (waitMs === 0) begin();
    else {
      state = 'wanted';
      timer = setTimeout(begin, waitMs).unref();
    }
  };
  const cooled = (): void => {
    if (state === 'wanted') begin();
    else if (state === 'busy') state = 'idle';
  };
  return {
    request() {
      if (cancelled) return;
      if (state === 'busy') state = 'wanted';
      else if (state === 'idle' && isFirst) beginFirst();
      else if (state === 'idle') begin();
    },
    cancel() {
      cancelled = true;
      clearTimeout(timer);
      return underWay;
    },
  };
}

/**
 * A typing indicator for a quick answer would cost a call and arrive together with the answer.
 */
const TYPING_AFTER_MS = 300;

/** A quick answer gets no reaction either. */
const ACKNOWLEDGE_AFTER_MS = 1_500;

/**
 * Adds a reaction to a message after a short delay, and removes it when the returned function is
 * called.
 */
function showReaction(
  react: (emoji: string | undefined) => Promise<void>,
  emoji: string,
  log: Logger,
): () => void {
  let shown = Promise.resolve();
  const show = async (what: string | undefined): Promise<void> => {
    try {
      await react(what);
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, 'reaction not shown');
    }
  };
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    shown = show(emoji);
  }, ACKNOWLEDGE_AFTER_MS).unref();
  return () => {
    clearTimeout(timer);
    // The two calls run in order; otherwise the reaction could remain on the message.
    if (isShown) void shown.then(() => show(undefined));
  };
}

/**
 * Shows "typing" after a short delay, and repeats it at the platform's interval, until the returned
 * function is called.
 */
function startTyping(
  typing: NonNullable<ChannelAdapter['typing']>,
  address: ChatAddress,
  log: Logger,
): () => void {
  let timer: NodeJS.Timeout;
  const show = async (): Promise<void> => {
    try {
      await typing.show(address);
    } catch (error) {
      log.debug({ chat: address.chatId, reason: reasonOf(error) }, 'typing not shown');
    }
  };
  const again = (): void => {
    timer = setTimeout(again, typing.repeatMs).unref();
    void show();
  };
  timer = setTimeout(again, TYPING_AFTER_MS).unref();
  return () => clearTimeout(timer);
}
