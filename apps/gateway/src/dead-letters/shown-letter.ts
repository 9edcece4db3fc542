import type { ChatKey, DeadLetter } from '@parley/store';
import { z } from 'zod';

const Common = {
  id: z.int(),
  /** In ms. */
  diedAt: z.number(),
  /** Empty where it is not known any more. */
  reason: z.string(),
  /** The chat as people write it: `telegram:501`. */
  chat: z.string(),
  settled: z.object({ how: z.enum(['replayed', 'dropped']), at: z.number() }).nullable(),
};

/** A dead letter as operators see it, in JSON. Its texts are private. */
export const ShownLetter = z.discriminatedUnion('kind', [
  z.object({
    ...Common,
    kind: z.enum(['refused', 'uncertain']),
    text: z.string(),
    /** The name of the file that was to come with it; empty where there is none. */
    file: z.string(),
    turnId: z.string().nullable(),
    /** Which part of its answer, from 1; null for what is no part of an answer. */
    part: z.int().nullable(),
    /** How its delivery stands now. */
    state: z.enum(['pending', 'sending', 'sent', 'unknown', 'failed']),
  }),
  z.object({
    ...Common,
    kind: z.literal('unanswered'),
    turnId: z.string(),
    /** How many messages there are; perhaps not all are shown. */
    count: z.int(),
    messages: z.array(z.object({ from: z.string(), text: z.string(), at: z.number() })),
    /** What the turn had done before it failed: tools may do it again. */
    steps: z.int(),
  }),
]);
export type ShownLetter = z.infer<typeof ShownLetter>;

/** How much of a letter is shown. */
export type Extent = 'excerpt' | 'whole';

const LONGEST_EXCERPT = 300;
const MOST_MESSAGES = 3;

/** A letter for operators; of long ones lists show the beginning. */
export function shownLetter(letter: DeadLetter, extent: Extent): ShownLetter {
  const { id, diedAt, settled } = letter;
  const common = { id, diedAt, settled, reason: letter.reason ?? '', chat: chatOf(letter) };
  const cut = (text: string) => (extent === 'whole' ? text : excerpt(text));
  if (letter.kind !== 'unanswered') {
    const { kind, turnId, index, state } = letter;
    const part = index === null ? null : index + 1;
    const text = cut(letter.text);
    return { ...common, kind, text, file: letter.file ?? '', turnId, part, state };
  }
  const { kind, turnId, steps } = letter;
  const messages = extent === 'whole' ? letter.messages : letter.messages.slice(0, MOST_MESSAGES);
  return {
    ...common,
    kind,
    turnId,
    steps,
    count: letter.messages.length,
    messages: messages.map(({ from, text, at }) => ({ from, text: cut(text), at })),
  };
}

function chatOf(letter: DeadLetter): string {
  const chat = letter.kind === 'unanswered' ? letter.messages[0]?.chat : letter.chat;
  if (chat !== undefined) return nameOf(chat);
  return letter.kind === 'unanswered' ? letter.conversationId : '';
}

/** Most people have one account of each platform, and never named it. */
function nameOf({ channel, account, chatId }: ChatKey): string {
  return `${account === 'default' ? channel : `${channel}/${account}`}:${chatId}`;
}

function excerpt(text: string): string {
  const letters = [...text];
  return letters.length <= LONGEST_EXCERPT
    ? text
    : `${letters.slice(0, LONGEST_EXCERPT).join('')}…`;
}
