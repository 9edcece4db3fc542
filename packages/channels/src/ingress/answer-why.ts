import type { ReplyRoute } from '@parley/contracts';
import type { AdmittedMessage, WhyRepository } from '@parley/store';
import type { TypedCommand } from './command.ts';

/** What looking for one message needs. */
export interface AnswerWhyDeps {
  readonly store: { readonly why: WhyRepository };
}

/**
 * The timeline of the message that `/why` names, or replies to; undefined where it names none. Only
 * messages of this chat are looked for.
 */
export async function answerWhy(
  { store }: AnswerWhyDeps,
  { message, route, receivedAt }: AdmittedMessage,
  { argument }: TypedCommand,
  audience: 'owner' | 'others',
): Promise<string | undefined> {
  const named = argument === '' ? message.replyTo?.messageId : argument;
  if (named === undefined) return undefined;
  const { whyAnswerText } = await import('./timeline-text.ts');
  const answer = await store.why.ask({ message: named, chat: chatOf(route) }, receivedAt);
  return whyAnswerText(answer, audience === 'owner' ? 'chat' : 'group');
}

function chatOf({ channel, account, chatId }: ReplyRoute) {
  return { channel, account, chatId };
}
