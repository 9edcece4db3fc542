import { type LiveEvent, ReplyRoute } from '@parley/contracts';
import { z } from 'zod';

const turn = { conversationId: z.string(), turnId: z.string() };

/** Unknown keys are left away: during a rolling restart a newer version may say more. */
const WireEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('turn-started'), ...turn, route: ReplyRoute }),
  z.object({
    type: z.literal('turn-delta'),
    ...turn,
    text: z.string(),
    step: z.int().exactOptional(),
    replyToMessageId: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('turn-ended'),
    ...turn,
    outcome: z.enum([
      'answered',
      'silent',
      'stopped',
      'failed',
      'fenced',
      'handed-back',
      'suspended',
      'interrupted',
    ]),
  }),
  z.object({ type: z.enum(['stop-turn', 'message-waiting']), conversationId: z.string() }),
  z.object({
    type: z.literal('delivery-due'),
    channel: z.string(),
    account: z.string(),
    chatId: z.string(),
  }),
  z.object({ type: z.literal('schedule-due'), schedule: z.string() }),
]) satisfies z.ZodType<LiveEvent>;

const WireMessage = z.object({ from: z.string(), events: z.array(z.unknown()) });

/** The event without texts of the outbox: the gateway that sends them reads them there. */
export function forOthers(event: LiveEvent): LiveEvent {
  if (event.type !== 'delivery-due') return event;
  const { fresh: _, ...due } = event;
  return due;
}

/** What other processes are sent; `from` names the process, which knows its own events already. */
export function encodeEvents(from: string, events: readonly LiveEvent[]): string {
  return JSON.stringify({ from, events });
}

/** The events of another process; none when it is our own message or nothing that we understand. */
export function decodeEvents(self: string, text: string): LiveEvent[] {
  const message = WireMessage.safeParse(parsed(text));
  if (!message.success || message.data.from === self) return [];
  return message.data.events.flatMap((event) => {
    const known = WireEvent.safeParse(event);
    return known.success ? [known.data] : [];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No message of ours, and nothing hangs on a live event.
  }
}
