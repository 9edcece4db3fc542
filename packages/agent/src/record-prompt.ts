import { type Logger, reasonOf, withoutTemplateTokens } from '@parley/core';
import type { ModelMessage, ModelRequest } from '@parley/models';
import { type AssembledPrompt, sentPromptOf } from '@parley/prompt';
import type { ClaimedTurn, NewPrompt, PromptRepository, TurnRepository } from '@parley/store';
import { leadingMessage } from './turn-opening.ts';
import type { TurnServices } from './turn-services.ts';

type RecordServices = Pick<TurnServices, 'prompts' | 'sentParts' | 'clock' | 'log'> & {
  readonly model: Pick<TurnServices['model'], 'id'>;
};

/**
 * Records the prompt of a turn for the inspector (P17) as the model gets it, after all hooks and checks.
 * The turn does not wait for it, and a failure is only logged.
 */
export function recordPrompt(
  deps: RecordServices,
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
  { model, clock, sentParts }: RecordServices,
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
    ...sentPromptOf(prompt, sentParts),
    tools: tools.map(({ name }) => name),
    messages: messages.map(asSent),
  };
}

function asSent(message: ModelMessage): NewPrompt['messages'][number] {
  const content = withoutTemplateTokens(message.content);
  return content === message.content ? message : { role: message.role, content };
}

/** While a model takes longer, people may look at its prompt: it is stored before the answer. */
const HOLD_MS = 1_000;

export type HeldPrompt = ReturnType<typeof holdPrompt>;

/**
 * Holds the prompt of a turn until it is stored: with the commit, unless it is needed sooner. Spares a
 * quick turn a transaction of its own.
 */
export function holdPrompt(
  prompts: Pick<PromptRepository, 'record'>,
  turns: Pick<TurnRepository, 'appendStep'>,
  log: Logger,
) {
  let held: NewPrompt | undefined;
  let timer: NodeJS.Timeout | undefined;
  const drop = (): NewPrompt | undefined => {
    clearTimeout(timer);
    const prompt = held;
    held = undefined;
    return prompt;
  };
  const storeNow = (): void => {
    const prompt = drop();
    prompt &&
      prompts
        .record(prompt)
        .catch((error: unknown) =>
          log.warn({ turn: prompt.turnId, reason: reasonOf(error) }, 'the prompt was not recorded'),
        );
  };
  return {
    prompts: {
      async record(prompt: NewPrompt): Promise<void> {
        drop();
        held = prompt;
        timer = setTimeout(storeNow, HOLD_MS);
      },
    },
    /** Stores the prompt before a step: such a turn takes longer. */
    turns: {
      appendStep(...step: Parameters<TurnRepository['appendStep']>) {
        storeNow();
        return turns.appendStep(...step);
      },
    },
    forCommit: () => held,
    /** Drops what was not committed: its text may have been forgotten meanwhile (G15). */
    end: () => void drop(),
  };
}
