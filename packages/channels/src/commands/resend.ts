import { defineChatCommand } from './command.ts';

/** The key of an answer's part, taken from the button below its notice. */
const PART_KEY = /^[\w-]{20,}$/;

const TEXTS = {
  resent: 'I have sent it again.',
  settled: 'That is already settled: I send a message again only once.',
  others:
    'That message was for another person. Only they and people who may change this conversation can have it sent again.',
  none: 'There is nothing to send again: all my messages arrived.',
} as const;

export const resend = defineChatCommand({
  name: 'resend',
  summary: 'send again what may not have arrived',
  rest: 'argument',
  who: 'everyone',
  groupRight: 'limits',
  async run({ argument, message, asker }, transaction) {
    // A button names the part; a typed command does not.
    const key = PART_KEY.test(argument) ? argument : null;
    const found = await transaction.resend({
      key,
      ...(asker.mayChangeChat ? {} : { senderId: message.sender.id }),
    });
    const answer = TEXTS[found];
    return found === 'others' ? { answer, declined: answer } : { answer, settled: true };
  },
});
