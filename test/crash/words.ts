import { type ChatRequest, textOf } from '../model/chat-request.ts';

/** One question: who asked, and which of that person's it is, from 1. */
export interface Question {
  readonly sender: number;
  readonly number: number;
}

/** One stretch of a reply as it is seen in a chat: which reply, which of its stretches, what it answers. */
export interface Stretch {
  readonly reply: number;
  readonly part: number;
  readonly of: number;
  readonly answers: readonly Question[];
}

/** Long enough that two stretches do not fit in one message of Discord, nor three in one of the others. */
const STRETCH = 1_400;
/** Every so many replies is one of several parts. */
const LONG_EVERY = 4;
const LONG_PARTS = 3;

/** What a person writes. */
export function ask({ sender, number }: Question): string {
  return `Please answer s${sender}-n${number}`;
}

/**
 * The questions that people ask in the newest message of a request. What stands before their words is
 * context, and where nothing does nobody asks (a summary is written).
 */
export function askedIn(request: ChatRequest): Question[] {
  const newest = request.messages.findLast(({ role }) => role === 'user');
  const [, ...behind] = textOf(newest).split('</message-context>');
  return questionsIn(behind.at(-1) ?? '');
}

/** The reply with this running number: it names every question that is asked. */
export function replyTo(request: ChatRequest, reply: number): string {
  const asked = askedIn(request)
    .map(({ sender, number }) => `s${sender}-n${number}`)
    .join(' ');
  const of = reply % LONG_EVERY === 0 ? LONG_PARTS : 1;
  const filler = of === 1 ? '' : ' and so on'.repeat(STRETCH / 10);
  const parts = Array.from({ length: of }, (_, index) => index + 1);
  return parts
    .map((part) => `reply-${reply}-${part}-of-${of} to ${asked} ok${filler}`)
    .join('\n\n');
}

/** The stretches of replies in a text of a chat, in order, whatever markup is around them. */
export function stretchesIn(text: string): Stretch[] {
  return [...text.matchAll(/reply-(\d+)-(\d+)-of-(\d+) to ([sn\d -]+) ok/g)].map((found) => {
    const [, reply, part, of, asked = ''] = found;
    return {
      reply: Number(reply),
      part: Number(part),
      of: Number(of),
      answers: questionsIn(asked),
    };
  });
}

/** Whether a text of a chat tells that nobody knows if a part arrived. */
export function tellsUncertainty(text: string): boolean {
  return text.startsWith('⚙️') && text.includes('cannot tell whether it arrived');
}

function questionsIn(text: string): Question[] {
  return [...text.matchAll(/s(\d+)-n(\d+)/g)].map(([, sender, number]) => ({
    sender: Number(sender),
    number: Number(number),
  }));
}
