import { z } from 'zod';
import { answersControl, newest } from '../answer-control.ts';
import { Fault } from './faults.ts';
import type { TelegramDouble } from './telegram-double.ts';
import type { VisibleMessage } from './transcript.ts';

const Known = z.object({ id: z.number() }).catchall(z.unknown());
const Format = z.looseObject({ type: z.string(), offset: z.number(), length: z.number() });
const SayingBody = z.strictObject({
  chat: z.union([z.number(), Known]),
  from: z.union([z.number(), Known]).optional(),
  text: z.string().optional(),
  entities: z.array(Format).optional(),
  thread: z.number().optional(),
  replyTo: z.number().optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
  album: z.string().optional(),
  as: Known.optional(),
  file: z
    .strictObject({
      kind: z.enum([
        'photo',
        'document',
        'voice',
        'audio',
        'video',
        'video_note',
        'animation',
        'sticker',
      ]),
      /** Base64. */
      bytes: z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64'))),
      name: z.string().optional(),
      type: z.string().optional(),
      claimedSize: z.number().optional(),
    })
    .optional(),
});
const PressBody = z.strictObject({
  chat: z.number(),
  message: z.number(),
  label: z.string(),
  from: z.union([z.number(), Known]).optional(),
});
const ReactionBody = z.strictObject({
  chat: z.number(),
  message: z.number(),
  emojis: z.array(z.union([z.string(), z.strictObject({ custom: z.string(), like: z.string() })])),
  from: z.union([z.number(), Known]).optional(),
  as: Known.optional(),
});
const RewordBody = z.strictObject({ chat: z.number(), message: z.number(), text: z.string() });

const ChatBody = z.strictObject({ chat: z.number() });
const AccessBody = z.strictObject({
  chat: z.number(),
  access: z.enum(['open', 'blocked', 'kicked', 'muted']),
});

/** Answers `/control/<action>` with JSON. */
export const handleControl = answersControl<TelegramDouble>({
  'POST say': (double, body) => double.say(SayingBody.parse(body)),
  'POST press': (double, body) => ({ query: double.press(PressBody.parse(body)) }),
  'POST reword': (double, body) => {
    const { chat, message, text } = RewordBody.parse(body);
    return double.reword(chat, message, text);
  },
  'POST react': (double, body) => double.react(ReactionBody.parse(body)),
  'POST fault': (double, body) => double.fault(Fault.parse(body)),
  'POST clear-faults': (double) => double.clearFaults(),
  'POST migrate': (double, body) => ({ chat: double.migrate(ChatBody.parse(body).chat) }),
  'POST access': (double, body) => {
    const { chat, access } = AccessBody.parse(body);
    return double.setAccess(chat, access);
  },
  'POST end-poll': (double) => double.endPoll(),
  'POST drop-connections': (double) => double.dropConnections(),
  'GET conversation': (double, _body, query) => double.conversation(Number(query.get('chat'))),
  'GET calls': (double, _body, query) => double.calls(query.get('method') ?? undefined),
  'GET answers': (double, _body, query) => newest(double, query, (after) => written(double, after)),
  'GET status': (double) => ({
    firstPollAt: double.transcript.firstArrival('getUpdates') ?? null,
    pendingUpdates: double.pendingUpdates().length,
  }),
});

function written({ transcript }: TelegramDouble, after: number): VisibleMessage[] {
  return transcript.after(after).filter(({ from }) => from === 'bot');
}
