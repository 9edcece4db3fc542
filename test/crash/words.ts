import { type ChatRequest, getMessageText } from '../model/chat-request.ts';

/** One question: its sender and its number among that sender's questions, starting with 1. */
export interface Question {
  readonly sender: number;
  readonly number: number;
}

/**
 * One piece of a reply as seen in a chat: the reply, the number of the piece, and the questions
 * that it answers.
 */
export interface ReplyStretch {
  readonly reply: number;
  readonly part: number;
  readonly of: number;
  readonly answers: readonly Question[];
}

/**
 * Long enough that two pieces do not fit in one message on Discord, nor three on the other
 * channels.
 */
const STRETCH = 1_400;
/** One reply in this many has several parts. */
const LONG_EVERY = 4;
const LONG_PARTS = 3;

/** The text of a question. */
export function formatQuestion({ sender, number }: Question): string {
  return `Please answer s${sender}-n${number}`;
}

/**
 * The questions that people ask in the newest message of a request. Text before the end of the
 * context comes from other people; without a context nobody asks (a summary is being written).
 */
export function findAskedQuestions(request: ChatRequest): Question[] {
  const newest = request.messages.findLast(({ role }) => role === 'user');
  const [, ...behind] = getMessageText(newest).split('</message-context>');
  return findQuestions(behind.at(-1) ?? '');
}

/** The reply with this number, which names every question asked. */
export function createReply(request: ChatRequest, reply: number): string {
  const asked = findAskedQuestions(request)
    .map(({ sender, number }) => `s${sender}-n${number}`)
    .join(' ');
  const of = reply % LONG_EVERY === 0 ? LONG_PARTS : 1;
  const filler = of === 1 ? '' : ' and so on'.repeat(STRETCH / 10);
  const parts = Array.from({ length: of }, (_, index) => index + 1);
  return parts
    .map((part) => `reply-${reply}-${part}-of-${of} to ${asked} ok${filler}`)
    .join('\n\n');
}

/** The pieces of replies in the text of a chat, in order and regardless of markup. */
export function findStretches(text: string): ReplyStretch[] {
  return [...text.matchAll(/reply-(\d+)-(\d+)-of-(\d+) to ([sn\d -]+) ok/g)].map((found) => {
    const [, reply, part, of, asked = ''] = found;
    return {
      reply: Number(reply),
      part: Number(part),
      of: Number(of),
      answers: findQuestions(asked),
    };
  });
}

/** Whether the text of a chat reports that it is unknown whether a part arrived. */
export function reportsUncertainty(text: string): boolean {
  return text.startsWith('⚙️') && text.includes('cannot tell whether it arrived');
}

/** The questions that a text names, in order. */
export function findQuestions(text: string): Question[] {
  return [...text.matchAll(/s(\d+)-n(\d+)/g)].map(([, sender, number]) => ({
    sender: Number(sender),
    number: Number(number),
  }));
}
