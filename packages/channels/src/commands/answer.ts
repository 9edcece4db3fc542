import { toLiteralMarkdown } from '@parley/core';
import type { AnswerVerdict } from '@parley/store';
import { APPROVAL_CODE_LENGTH, parseTypedCode } from '../ingress/one-time-code.ts';
import { toPersonId } from '../ingress/sender.ts';
import { defineChatCommand } from './command.ts';

/** Answers a question of `ask_user`: a code, followed by a number, `skip` or other text. */
export const answer = defineChatCommand({
  name: 'answer',
  summary: 'answer what I asked you',
  takes: 'CODE answer',
  rest: 'text',
  who: 'everyone',
  unlisted: true,
  async run({ argument, message, conversationId }, transaction) {
    const [, typed = '', text = ''] = /^(\S+)\s+(.+)$/s.exec(argument) ?? [];
    const code = parseTypedCode(typed, APPROVAL_CODE_LENGTH);
    if (code === null) return { answer: describeAnswerVerdict({ kind: 'unknown' }) };
    const by = toPersonId(message);
    const verdict = await transaction.answerQuestion({ code, by, text });
    const isOver = verdict.kind === 'answered' || verdict.kind === 'closed';
    return {
      answer: describeAnswerVerdict(verdict),
      ...(isOver && { settled: true }),
      wake: verdict.kind === 'answered' ? [conversationId] : [],
    };
  },
});

function describeAnswerVerdict(verdict: AnswerVerdict): string {
  switch (verdict.kind) {
    case 'answered': {
      const { answer: given } = verdict.question;
      return given === null ? 'Skipped.' : `Your answer: ${toLiteralMarkdown(given)}`;
    }
    case 'closed':
      return 'I am no longer waiting for that answer. Send it as a message.';
    case 'others':
      return 'I asked another person that.';
    case 'elsewhere':
      return 'I asked that in another chat: answer it there.';
    case 'unknown':
      return 'There is no question with that code. `/answer CODE 2` chooses the second answer, and `/answer CODE skip` chooses none.';
  }
}
