import type { LanguageModel } from 'ai';
import {
  type AssistantMessage,
  type ModelMessage,
  type ModelRequest,
  type ModelToolCall,
  parseToolArguments,
  type ToolMessage,
} from './chat-model.ts';
import { getImages, joinAdjacentMessages } from './join-turns.ts';
import type { SdkChoice } from './model-settings.ts';
import { neutralizeRecord } from './template-tokens.ts';

/** A model of the AI SDK at its provider level. */
export type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
export type ProviderCall = Parameters<ProviderModel['doStream']>[0];
type ProviderPrompt = ProviderCall['prompt'];
export type ProviderPart =
  Awaited<ReturnType<ProviderModel['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

export const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
export const OPENAI_URL = 'https://api.openai.com/v1';
/** The API version that every request names. */
export const ANTHROPIC_VERSION = '2023-06-01';

/** Without `store: false`, OpenAI would keep every conversation for 30 days. */
export function getProviderOptions(choice: SdkChoice): Pick<ProviderCall, 'providerOptions'> {
  // OpenAI's strict mode accepts only a subset of schemas.
  const openai = { store: false, strictJsonSchema: false };
  return choice.provider === 'openai' ? { providerOptions: { openai } } : {};
}

/**
 * Makes OpenAI models follow a response format. Other providers do not get this option: Anthropic's
 * package turns it into a forced tool, and many local servers refuse it together with tools.
 */
export function toProviderFormat(
  provider: SdkChoice['provider'],
  { format }: Pick<ModelRequest, 'format'>,
): Pick<ProviderCall, 'responseFormat'> {
  if (provider !== 'openai' || format === undefined) return {};
  if (format === 'json') return { responseFormat: { type: 'json' } };
  if (format.type !== 'object') return {};
  return { responseFormat: { type: 'json', name: 'answer', schema: neutralizeRecord(format) } };
}

/** Asks Anthropic to cache everything up to and including the marked block. */
const ANTHROPIC_CACHE = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * Converts a request to the provider's format. Anthropic gets the layers one by one with a cache
 * mark on the last stable layer; all other providers get a single system message, because many chat
 * templates allow only one. Adjacent messages of the same role are joined, because many templates
 * insist that roles alternate.
 */
export function toProviderPrompt(
  provider: SdkChoice['provider'],
  request: ModelRequest,
): ProviderPrompt {
  const layers = request.system.filter((layer) => layer.text.trim() !== '');
  const system: ProviderPrompt =
    provider === 'anthropic'
      ? toAnthropicSystem(layers)
      : joinSystemTexts(layers.map((layer) => layer.text));
  return [...system, ...joinAdjacentMessages(request.messages).map(toPromptMessage)];
}

function joinSystemTexts(texts: readonly string[]): ProviderPrompt {
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.join('\n\n') }];
}

function toAnthropicSystem(layers: ModelRequest['system']): ProviderPrompt {
  const lastStable = layers.findLastIndex((layer) => layer.stable);
  return layers.map((layer, index) => ({
    role: 'system' as const,
    content: layer.text,
    ...(index === lastStable && { providerOptions: ANTHROPIC_CACHE }),
  }));
}

function toPromptMessage(message: ModelMessage): ProviderPrompt[number] {
  switch (message.role) {
    case 'assistant':
      return { role: 'assistant', content: toAssistantParts(message) };
    case 'tool':
      return { role: 'tool', content: [toToolResult(message)] };
    case 'user':
      return { role: 'user', content: toUserParts(message) };
  }
}

/** Pictures come before the text about them, as the providers recommend. */
function toUserParts(message: ModelMessage) {
  const pictures = getImages(message).map(({ mimeType, bytes }) => ({
    type: 'file' as const,
    mediaType: mimeType,
    data: { type: 'data' as const, data: bytes },
  }));
  return message.content === '' ? pictures : [...pictures, toTextPart(message.content)];
}

function toAssistantParts({ content, toolCalls = [] }: AssistantMessage) {
  // Anthropic refuses empty text blocks.
  const texts = content.trim() === '' ? [] : [toTextPart(content)];
  return [...texts, ...toolCalls.map(toToolCallPart)];
}

/**
 * Providers require the arguments to be an object. If the model wrote something else, the tool
 * result reports it.
 */
function toToolCallPart(call: ModelToolCall) {
  const { id, name, signature } = call;
  return {
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: parseToolArguments(call) ?? {},
    ...(signature !== undefined && {
      providerOptions: { google: { thoughtSignature: signature } },
    }),
  };
}

function toToolResult({ callId, name, content, failed = false }: ToolMessage) {
  return {
    type: 'tool-result' as const,
    toolCallId: callId,
    toolName: name,
    output: { type: failed ? ('error-text' as const) : ('text' as const), value: content },
  };
}

function toTextPart(text: string) {
  return { type: 'text' as const, text };
}

/**
 * Converts the tools to the provider's format; undefined if there are none, because some servers
 * refuse an empty list. Anthropic's cache begins with the tools, so the last tool carries a mark:
 * together with the mark on the system blocks, that is two of the four that Anthropic allows.
 */
export function toProviderTools(
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
