import { type Clock, type Logger, reasonOf, withoutTemplateTokens } from '@parley/contracts';
import type { ModelRequest } from '@parley/models';
import { type AssembledPrompt, sentPromptOf } from '@parley/prompt';
import type { ClaimedTurn, NewPrompt, PromptRepository } from '@parley/store';
import { leadingMessage } from './turn-facts.ts';

/** What recording needs. */
export interface RecordPromptDeps {
  /** Without it nothing is recorded. */
  readonly prompts?: Pick<PromptRepository, 'record'>;
  readonly model: { readonly id: string };
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Keeps the prompt of a turn for the inspector (P17), as it goes to the model: after all hooks and
 * checks. The turn does not wait for it, and a failure is only logged: the answer matters more than
 * its explanation.
 */
export function recordPrompt(
  deps: RecordPromptDeps,
  turn: ClaimedTurn,
  prompt: AssembledPrompt,
  request: Pick<ModelRequest, 'messages' | 'tools'>,
): void {
  const { prompts, log } = deps;
  if (prompts === undefined) return;
  const failed = (error: unknown): void =>
    log.warn({ turn: turn.turnId, reason: reasonOf(error) }, 'the prompt was not recorded');
  try {
    prompts.record(promptOf(deps, turn, prompt, request)).catch(failed);
  } catch (error) {
    failed(error);
  }
}

function promptOf(
  { model, clock }: RecordPromptDeps,
  turn: ClaimedTurn,
  prompt: AssembledPrompt,
  { messages, tools = [] }: Pick<ModelRequest, 'messages' | 'tools'>,
): NewPrompt {
  const { channel, account, chat, sender } = leadingMessage(turn).message;
  return {
    turnId: turn.turnId,
    conversationId: turn.conversationId,
    at: clock(),
    model: model.id,
    place: {
      channel,
      account,
      chatId: chat.id,
      chatType: chat.type,
      ...(chat.title !== undefined && { title: chat.title }),
      personId: `${channel}:${sender.id}`,
      personName: sender.name,
    },
    messageIds: turn.messages.map(({ message }) => message.messageId),
    ...sentPromptOf(prompt),
    tools: tools.map(({ name }) => name),
    messages: messages.map(({ role, content }) => ({
      role,
      content: withoutTemplateTokens(content),
    })),
  };
}
