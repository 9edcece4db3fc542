import {
  type LiveBus,
  type LiveEvent,
  type Logger,
  type ReplyRoute,
  reasonOf,
} from '@parley/contracts';
import type { ChannelAdapter, ChatAddress } from '../adapter.ts';
import { createThrottle, type Throttle } from './throttle.ts';

/** Signs of life of running turns: typing, and the answer as it grows (F12). */
export interface Presence {
  /** Ends every sign of life. */
  close(): void;
}

/** What presence needs: the live events and the adapter of an account of this process. */
export interface PresenceDeps {
  readonly bus: LiveBus;
  readonly adapterOf: (channel: string, account: string) => ChannelAdapter | undefined;
  readonly log: Logger;
}

/** Quick answers need no "typing": it would cost a call and arrive with the answer. */
const TYPING_AFTER_MS = 300;
/** Typing always stops (F12), even when the end of a turn is never told; twice the longest model call. */
const LONGEST_TURN_MS = 20 * 60_000;

interface Sign {
  text: string;
  readonly timers: readonly NodeJS.Timeout[];
  readonly stream: Throttle | null;
  readonly end: () => Promise<void>;
}

/** Shows typing and streams for every turn whose chat is served by this process. */
export function startPresence(deps: PresenceDeps): Presence {
  const signs = new Map<string, Sign>();
  const stop = (turnId: string): void => {
    const sign = signs.get(turnId);
    if (!sign) return;
    signs.delete(turnId);
    for (const timer of sign.timers) clearTimeout(timer);
    sign.stream?.cancel();
    sign
      .end()
      .catch((error: unknown) =>
        deps.log.debug({ reason: reasonOf(error) }, 'stream end not shown'),
      );
  };
  const unsubscribe = deps.bus.subscribe((event: LiveEvent) => {
    if (event.type === 'turn-started') {
      stop(event.turnId);
      const adapter = deps.adapterOf(event.route.channel, event.route.account);
      if (adapter)
        signs.set(
          event.turnId,
          show(deps, adapter, event.route, event.turnId, () => stop(event.turnId), signs),
        );
    } else if (event.type === 'turn-delta') {
      const sign = signs.get(event.turnId);
      if (!sign) return;
      sign.text += event.text;
      sign.stream?.request();
    } else if (event.type === 'turn-ended') {
      stop(event.turnId);
    }
  });
  return {
    close() {
      unsubscribe();
      for (const turnId of [...signs.keys()]) stop(turnId);
    },
  };
}

function show(
  deps: PresenceDeps,
  adapter: ChannelAdapter,
  route: ReplyRoute,
  turnId: string,
  stop: () => void,
  signs: ReadonlyMap<string, Sign>,
): Sign {
  const address: ChatAddress = { chatId: route.chatId, threadId: route.threadId };
  const { streaming, typing } = adapter;
  const timers: NodeJS.Timeout[] = [unref(setTimeout(stop, LONGEST_TURN_MS))];
  if (typing) {
    const tick = (): void => {
      typing
        .show(address)
        .catch((error: unknown) => deps.log.debug({ reason: reasonOf(error) }, 'typing not shown'));
    };
    const first = setTimeout(() => {
      tick();
      timers.push(unref(setInterval(tick, typing.repeatMs)));
    }, TYPING_AFTER_MS);
    timers.push(unref(first));
  }
  const stream = streaming
    ? createThrottle(streaming.minIntervalMs, deps.log, async () => {
        const text = signs.get(turnId)?.text;
        if (text) await streaming.update(address, turnId, text);
      })
    : null;
  return { text: '', timers, stream, end: async () => streaming?.end(address, turnId) };
}

function unref(timer: NodeJS.Timeout): NodeJS.Timeout {
  timer.unref();
  return timer;
}
