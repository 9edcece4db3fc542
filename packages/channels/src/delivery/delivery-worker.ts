import { setTimeout as sleep } from 'node:timers/promises';
import {
  type FreshParts,
  type LiveBus,
  literal,
  type OutboundPart,
  type RenderedPart,
  visibleLine,
} from '@parley/core';
import { render } from '@parley/markup';
import { type StartSweep, startKeyedWork } from '@parley/queue';
import { type DeliveryDeps, deliverChat } from './deliver-chat.ts';
import { createPacer, type PacedChat } from './pacer.ts';

/** The deliveries of one channel account: chats in parallel, each chat in order. */
export interface DeliveryWorker {
  /** Whether the rates leave room for a preview of an answer now; answers take precedence. */
  mayPreview(chat: PacedChat): boolean;
  /**
   * Sends what is due as far as `graceMs` allows, then aborts sends under way. `hand-over`: the
   * send under way is the last one, and another gateway sends the rest.
   */
  close(graceMs: number, rest?: 'hand-over'): Promise<void>;
}

/** The account, and how its deliveries are woken. */
export interface DeliveryWorkerOptions {
  readonly channel: string;
  readonly account: string;
  /** `delivery-due` on it names a chat that has parts; a lost one is found by the sweep. */
  readonly bus: LiveBus;
  /** The number of chats served concurrently. */
  readonly concurrency: number;
  readonly sweep: StartSweep;
}

const SWEEP_BATCH = 500;
/** During shutdown, the interval between checks whether everything due has been sent, in ms. */
const RECHECK_MS = 10;

/**
 * Starts delivering: first what an earlier process left, then what the bus and the sweep name.
 * Pauses that platforms ask for are timers of this process; after a restart the sweep finds the
 * parts they were for.
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
  /** Parts by chat, until its delivery takes them. */
  const fresh = new Map<string, FreshParts>();
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
    // A newer wake-up without parts means that there is something to read.
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
      // The answer of a turn that has just finished may not have been taken up yet.
      while (!isEnding && deps.monotonic() < until && (await due(1)).length > 0)
        await sleep(RECHECK_MS);
      unsubscribe();
      await work.close(Math.max(0, until - deps.monotonic()));
    },
  };
}

type Scrub = (text: string) => string;

/**
 * Removes secrets from a part before it reaches a chat (G18), no matter who wrote it: the model, a
 * command, a notice, the arguments of a call that waits for approval. The bytes of a file are
 * scrubbed where they are read.
 */
export function scrubPart(part: OutboundPart, scrub: Scrub): OutboundPart {
  const { buttons, file } = part;
  const body = scrubBody(part, scrub);
  if (body === part.body && buttons === undefined && file === undefined) return part;
  return {
    ...part,
    body,
    ...(file !== undefined && { file: { ...file, name: visibleLine(scrub(file.name)) || 'file' } }),
    ...(buttons !== undefined && {
      buttons: buttons.map((button) => ({ ...button, label: visibleLine(scrub(button.label)) })),
    }),
  };
}

function scrubBody({ body, route }: OutboundPart, scrub: Scrub): RenderedPart {
  const plain = scrub(body.plain);
  // Markup may stand in the middle of a secret; such a text is printed again, without markup.
  if (plain !== body.plain) return printed(plain, route.target) ?? { text: plain, plain };
  const text = scrub(body.text);
  const rich = body.rich === undefined ? undefined : scrub(body.rich);
  if (text === body.text && rich === body.rich) return body;
  return { text, plain, ...(rich !== undefined && { rich }) };
}

function printed(plain: string, target: OutboundPart['route']['target']): RenderedPart | undefined {
  const [first, ...more] = render(literal(plain), target);
  return more.length === 0 ? first : undefined;
}
