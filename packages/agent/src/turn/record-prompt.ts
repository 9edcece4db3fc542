import {
  computeRequestSizes,
  type Logger,
  neutralizeTemplateTokens,
  type Reader,
  reasonOf,
  type SentPart,
  type SentRequest,
} from '@parley/core';
import type { ModelMessage, ModelRequest, ModelTool } from '@parley/models';
import { type AssembledPrompt, type SentPartCache, toSentPrompt } from '@parley/prompt';
import type { NewPrompt, PromptRepository, TurnRepository } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { estimateMessageTokens } from '../context/history.ts';
import type { TurnServices } from './means.ts';
import type { Turn } from './turn.ts';

interface PromptRecordServices extends Pick<TurnServices, 'clock' | 'log'> {
  readonly prompts: Pick<PromptRepository, 'record'> | undefined;
  readonly model: Pick<TurnServices['model'], 'id'>;
  readonly sentParts?: SentPartCache | undefined;
}

/** A turn's first request after all hooks and checks, and the reader it was built for. */
export interface BuiltRequest {
  readonly prompt: AssembledPrompt;
  readonly request: Pick<ModelRequest, 'messages' | 'tools'>;
  readonly reader: Reader;
}

/**
 * Records a turn's prompt, as sent to the model, for the inspector (P17). The turn does not wait
 * for the record, and a failure is only logged.
 */
export function recordPrompt(
  services: PromptRecordServices,
  turn: Turn,
  built: BuiltRequest,
): void {
  const { prompts, log } = services;
  if (prompts === undefined) return;
  const failed = (error: unknown): void =>
    log.warn({ turn: turn.turnId, reason: reasonOf(error) }, 'a prompt could not be recorded');
  try {
    prompts.record(toNewPrompt(services, turn, built)).catch(failed);
  } catch (error) {
    failed(error);
  }
}

function toNewPrompt(
  { model, clock, sentParts }: PromptRecordServices,
  turn: Turn,
  built: BuiltRequest,
): NewPrompt {
  const { channel, account, chat, sender } = turn.lead.message;
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
    ...describeRequest(built, sentParts),
  };
}

function describeRequest(
  { prompt, request: { messages, tools = [] }, reader }: BuiltRequest,
  known: SentPartCache = new WeakMap(),
) {
  const { parts, ...sent } = toSentPrompt(prompt, known);
  return {
    ...sent,
    parts: tools.length === 0 ? parts : [createToolsPart(tools, reader, known), ...parts],
    tools: tools.map(({ name }) => name),
    messages: messages.map(toSentMessage),
  };
}

/** Describes a request as the inspector shows it, without recording it. */
export function toSentRequest(built: BuiltRequest): SentRequest {
  const { messages, ...sent } = describeRequest(built);
  const sizes = messages.map(({ content, ...size }) => ({ ...size, characters: content.length }));
  return { ...sent, messages: sizes, ...computeRequestSizes(sent.parts, sizes) };
}

/** Formats the tool definitions, one per line. */
function createToolsPart(
  tools: readonly ModelTool[],
  { kind }: Reader,
  known: SentPartCache,
): SentPart {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const text = neutralizeTemplateTokens(tools.map((tool) => JSON.stringify(tool)).join('\n'));
  const part: SentPart = {
    layer: 'tool-definitions',
    placement: 'tools',
    source: tools.length === 1 ? '1 tool' : `${tools.length} tools`,
    audience: { kind: kind === 'owner' ? 'owner' : 'everyone' },
    stable: true,
    cut: null,
    tokens: estimateTokens(text),
    text,
  };
  known.set(tools, part);
  return part;
}

function toSentMessage(message: ModelMessage): NewPrompt['messages'][number] {
  const { role } = message;
  const tokens = estimateMessageTokens(message);
  return { role, tokens, content: neutralizeTemplateTokens(message.content) };
}

/**
 * How long a prompt is held before it is stored, in ms. If the model takes longer, the prompt is
 * stored so that people can inspect it before the answer arrives.
 */
const HOLD_MS = 1_000;

export type PendingPromptRecord = ReturnType<typeof deferPromptRecord>;

/**
 * Holds a turn's prompt until it is stored: with the commit, unless it is needed sooner. Storing it
 * with the commit saves a quick turn a transaction.
 */
export function deferPromptRecord(
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
          log.warn(
            { turn: prompt.turnId, reason: reasonOf(error) },
            'a prompt could not be recorded',
          ),
        );
  };
  return {
    async record(prompt: NewPrompt): Promise<void> {
      drop();
      held = prompt;
      timer = setTimeout(storeNow, HOLD_MS);
    },
    /** Stores the prompt before the first step, because a turn with steps takes longer. */
    turns: {
      appendStep(...step: Parameters<TurnRepository['appendStep']>) {
        storeNow();
        return turns.appendStep(...step);
      },
    },
    forCommit: () => held,
    /**
     * Drops a prompt that was not committed: its text may have been forgotten in the meantime
     * (G15).
     */
    end: () => void drop(),
  };
}
