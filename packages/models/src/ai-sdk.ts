import type { LanguageModel } from 'ai';
import {
  type AssistantMessage,
  type ModelMessage,
  type ModelRequest,
  type ModelToolCall,
  type ToolMessage,
  toolArguments,
} from './chat-model.ts';
import { imagesOf, joinTurns } from './join-turns.ts';
import type { SdkChoice } from './model-settings.ts';
import { harmlessRecord } from './template-tokens.ts';

/** A model of the AI SDK at its provider level. */
export type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** The input of one call to it. */
export type ProviderCall = Parameters<ProviderModel['doStream']>[0];
/** The messages of one call. */
type ProviderPrompt = ProviderCall['prompt'];
/** A part of its answer, as it arrives. */
export type ProviderPart =
  Awaited<ReturnType<ProviderModel['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

export const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
export const OPENAI_URL = 'https://api.openai.com/v1';
/** The version of the API, which every request names. */
export const ANTHROPIC_VERSION = '2023-06-01';

/** Options that only one provider has. OpenAI would otherwise keep every conversation for 30 days. */
export function providerOptions(choice: SdkChoice): Pick<ProviderCall, 'providerOptions'> {
  // Its strict way takes only schemas of a kind of its own.
  const openai = { store: false, strictJsonSchema: false };
  return choice.provider === 'openai' ? { providerOptions: { openai } } : {};
}

/**
 * Holds OpenAI's models to a format. Others do not get it: Anthropic's package makes a forced tool of it, and many
 * local servers refuse it beside tools.
 */
export function providerFormat(
  provider: SdkChoice['provider'],
  { format }: Pick<ModelRequest, 'format'>,
): Pick<ProviderCall, 'responseFormat'> {
  if (provider !== 'openai' || format === undefined) return {};
  if (format === 'json') return { responseFormat: { type: 'json' } };
  // It takes objects alone.
  if (format.type !== 'object') return {};
  return { responseFormat: { type: 'json', name: 'answer', schema: harmlessRecord(format) } };
}

/** Asks Anthropic to keep everything up to the block that carries it. */
const ANTHROPIC_CACHE = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * The request in the provider's shape. Anthropic gets the layers one by one with a cache mark on the
 * last stable one; everyone else gets one system message, since many chat templates allow only one.
 * Neighbouring messages of one role are joined, since many templates insist that roles take turns.
 */
export function providerPrompt(
  provider: SdkChoice['provider'],
  request: ModelRequest,
): ProviderPrompt {
  const layers = request.system.filter((layer) => layer.text.trim() !== '');
  const system: ProviderPrompt =
    provider === 'anthropic'
      ? anthropicSystem(layers)
      : joinedSystem(layers.map((layer) => layer.text));
  return [...system, ...joinTurns(request.messages).map(promptMessage)];
}

function joinedSystem(texts: readonly string[]): ProviderPrompt {
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.join('\n\n') }];
}

function anthropicSystem(layers: ModelRequest['system']): ProviderPrompt {
  const lastStable = layers.findLastIndex((layer) => layer.stable);
  return layers.map((layer, index) => ({
    role: 'system' as const,
    content: layer.text,
    ...(index === lastStable && { providerOptions: ANTHROPIC_CACHE }),
  }));
}

function promptMessage(message: ModelMessage): ProviderPrompt[number] {
  switch (message.role) {
    case 'assistant':
      return { role: 'assistant', content: assistantParts(message) };
    case 'tool':
      return { role: 'tool', content: [toolResult(message)] };
    case 'user':
      return { role: 'user', content: userParts(message) };
  }
}

/** Pictures come before the text about them, as the providers advise. */
function userParts(message: ModelMessage) {
  const pictures = imagesOf(message).map(({ mimeType, bytes }) => ({
    type: 'file' as const,
    mediaType: mimeType,
    data: { type: 'data' as const, data: bytes },
  }));
  return message.content === '' ? pictures : [...pictures, textPart(message.content)];
}

function assistantParts({ content, toolCalls = [] }: AssistantMessage) {
  // Anthropic refuses empty blocks of text.
  const texts = content.trim() === '' ? [] : [textPart(content)];
  return [...texts, ...toolCalls.map(toolCallPart)];
}

/** Providers want an object: what the model wrote instead is in the result, which says so. */
function toolCallPart(call: ModelToolCall) {
  const { id, name, signature } = call;
  return {
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: toolArguments(call) ?? {},
    ...(signature !== undefined && {
      providerOptions: { google: { thoughtSignature: signature } },
    }),
  };
}

function toolResult({ callId, name, content, failed = false }: ToolMessage) {
  return {
    type: 'tool-result' as const,
    toolCallId: callId,
    toolName: name,
    output: { type: failed ? ('error-text' as const) : ('text' as const), value: content },
  };
}

function textPart(text: string) {
  return { type: 'text' as const, text };
}

/**
 * The tools in the provider's shape; nothing at all where there are none, since some servers refuse an
 * empty list. Anthropic's cache begins with the tools, so the last one carries a mark: with the one on
 * the system blocks that makes two of the four it allows.
 */
export function providerTools(
  provider: SdkChoice['provider'],
  { tools = [] }: ModelRequest,
): Pick<ProviderCall, 'tools'> {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, inputSchema }, index) => ({
      type: 'function',
      name,
      description,
      inputSchema,
      ...(provider === 'anthropic' &&
        index === tools.length - 1 && { providerOptions: ANTHROPIC_CACHE }),
    })),
  };
}
