import { type Clock, type Logger, reasonOf, withoutTemplateTokens } from '@parley/contracts';
import type { ModelMessage, ModelRequest } from '@parley/models';
import { type AssembledPrompt, type SentParts, sentPromptOf } from '@parley/prompt';
import type { ClaimedTurn, NewPrompt, PromptRepository, TurnRepository } from '@parley/store';
import { leadingMessage } from './turn-opening.ts';

/** What recording needs. */
export interface RecordPromptDeps {
  /** Without it nothing is recorded. */
  readonly prompts?: Pick<PromptRepository, 'record'>;
  /** Parts that were recorded before; without it each is made again. */
  readonly sentParts?: SentParts;
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
  { model, clock, sentParts }: RecordPromptDeps,
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

/** Itself where the provider is given it as it is, as nearly always. */
function asSent(message: ModelMessage): NewPrompt['messages'][number] {
  const content = withoutTemplateTokens(message.content);
  return content === message.content ? message : { role: message.role, content };
}

/** A model that takes longer is about to be watched: its prompt is stored before it answers. In ms. */
const HOLD_MS = 1_000;

/** The prompt of a turn on its way to the database: with the commit, unless it must be there sooner. */
export interface HeldPrompt {
  /** Takes the prompt in place of the repository. */
  readonly prompts: Pick<PromptRepository, 'record'>;
  /** Stores a step, and the prompt before it: the turn will take its time. */
  readonly turns: Pick<TurnRepository, 'appendStep'>;
  /** What the commit is to store. */
  forCommit(): NewPrompt | undefined;
  /** The turn is over. What was not committed is dropped: words may have been forgotten meanwhile (G15). */
  end(): void;
}

/** Spares a turn that is quickly answered the transaction of its own that its prompt would take. */
export function holdPrompt(
  prompts: Pick<PromptRepository, 'record'>,
  turns: Pick<TurnRepository, 'appendStep'>,
  log: Logger,
): HeldPrompt {
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
      async record(prompt) {
        drop();
        held = prompt;
        timer = setTimeout(storeNow, HOLD_MS);
      },
    },
    turns: {
      appendStep(...step) {
        storeNow();
        return turns.appendStep(...step);
      },
    },
    forCommit: () => held,
    end: () => void drop(),
  };
}
