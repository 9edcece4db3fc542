import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CommittedParts,
  type LiveBus,
  type OutboundPart,
  type RenderedPart,
  toDisplayLine,
  toLiteralMarkdown,
} from '@parley/core';
import { render } from '@parley/markup';
import { type StartSweep, startKeyedWork } from '@parley/queue';
import { type DeliveryDeps, deliverChat } from './deliver-chat.ts';
import { createPacer, type PacedChat } from './pacer.ts';

/**
 * The deliveries of one channel account: chats run in parallel, and the parts of a chat are sent in
 * order.
 */
export interface DeliveryWorker {
  /** Whether the rate limits permit a preview now; answers take precedence. */
  mayPreview(chat: PacedChat): boolean;
  /**
   * Sends due parts for up to `graceMs`, then aborts sends in progress. `hand-over`: the send in
   * progress is the last one, and another gateway sends the rest.
   */
  close(graceMs: number, rest?: 'hand-over'): Promise<void>;
}

export interface DeliveryWorkerOptions {
  readonly channel: string;
  readonly account: string;
  /**
   * `delivery-due` events name chats with new parts; parts whose event was lost are found by the
   * sweep.
   */
  readonly bus: LiveBus;
  readonly concurrency: number;
  readonly sweep: StartSweep;
}

const SWEEP_BATCH = 500;
/** The interval at which shutdown checks whether all due parts have been sent, in ms. */
const RECHECK_MS = 10;

/**
 * Starts delivering: first parts left by an earlier process, then parts reported by the bus and the
 * sweep. Pauses requested by platforms are timers of this process; after a restart the sweep finds
 * the affected parts.
 */
export function startDeliveryWorker(
  deps: Omit<DeliveryDeps, 'pacer'>,
  { channel, account, bus, concurrency, sweep: startSweep }: DeliveryWorkerOptions,
): DeliveryWorker {
  const name = `deliveries ${channel}/${account}`;
  let isEnding = false;
  const pacer = createPacer(deps.capabilities.rates);
  const sending: DeliveryDeps = {
    ...deps,
    pacer,
    isEnding: () => isEnding,
  };
  /** Parts by chat, until the chat's delivery picks them up. */
  const fresh = new Map<string, CommittedParts>();
  const work = startKeyedWork({
    name,
    handler: async (chatId, signal) => {
      const parts = fresh.get(chatId);
      fresh.delete(chatId);
      const wait = await deliverChat(sending, { channel, account, chatId }, signal, parts);
      bus.publish({ type: 'inbox-changed', isLocal: true });
      return wait;
    },
    concurrency,
    log: deps.log,
    random: deps.random,
  });
  const unsubscribe = bus.subscribe((event) => {
    if (event.type !== 'delivery-due') return;
    if (event.channel !== channel || event.account !== account) return;
    // A newer wake-up without parts means that the rows must be read.
    if (event.fresh === undefined || fresh.has(event.chatId)) fresh.delete(event.chatId);
    else fresh.set(event.chatId, event.fresh);
    work.wake(event.chatId);
  });
  const due = (limit: number) => deps.outbox.chatsWithWork(channel, account, deps.clock(), limit);
  const sweep = startSweep(async () => {
    for (const { chatId } of await due(SWEEP_BATCH)) work.wake(chatId);
  });
  return {
    mayPreview: (chat) => pacer.takeSpare(chat, deps.monotonic()),
    async close(graceMs, rest) {
      const until = deps.monotonic() + graceMs;
      isEnding = rest === 'hand-over';
      await sweep.stop();
      // The answer of a turn that has just finished may not have been picked up yet.
      while (!isEnding && deps.monotonic() < until && (await due(1)).length > 0)
        await sleep(RECHECK_MS);
      unsubscribe();
      await work.close(Math.max(0, until - deps.monotonic()));
    },
  };
}

type ScrubText = (text: string) => string;

/**
 * Removes secrets from a message part before it reaches a chat (G18), whether its author is the
 * model, a command, a notice, or the arguments of a call that waits for approval. Secrets in files
 * are removed where the bytes are read.
 */
export function scrubPart(part: OutboundPart, scrub: ScrubText): OutboundPart {
  const { buttons, file } = part;
  const body = scrubBody(part, scrub);
  if (body === part.body && buttons === undefined && file === undefined) return part;
  return {
    ...part,
    body,
    ...(file !== undefined && {
      file: { ...file, name: toDisplayLine(scrub(file.name)) || 'file' },
    }),
    ...(buttons !== undefined && {
      buttons: buttons.map((button) => ({ ...button, label: toDisplayLine(scrub(button.label)) })),
    }),
  };
}

function scrubBody({ body, route }: OutboundPart, scrub: ScrubText): RenderedPart {
  const plain = scrub(body.plain);
  // Markup may split a secret; such a text is rendered again, without markup.
  if (plain !== body.plain) return printPlainText(plain, route.target) ?? { text: plain, plain };
  const text = scrub(body.text);
  const rich = body.rich === undefined ? undefined : scrub(body.rich);
  if (text === body.text && rich === body.rich) return body;
  return { text, plain, ...(rich !== undefined && { rich }) };
}

function printPlainText(
  plain: string,
  target: OutboundPart['route']['target'],
): RenderedPart | undefined {
  const [first, ...more] = render(toLiteralMarkdown(plain), target);
  return more.length === 0 ? first : undefined;
}
