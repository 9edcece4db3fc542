import { withoutTemplateTokens as harmless } from '@parley/core';
import type { LanguageModel } from 'ai';
import { z } from 'zod';
import {
  type AssistantMessage,
  type ModelImage,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  type ToolMessage,
  toolArguments,
} from './chat-model.ts';
import type { ProviderChoice } from './model-settings.ts';

/** A model of the AI SDK at its provider level. */
export type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** What one call to it takes. */
export type ProviderCall = Parameters<ProviderModel['doStream']>[0];
/** The messages of one call. */
type ProviderPrompt = ProviderCall['prompt'];
/** What arrives while it answers. */
export type ProviderPart =
  Awaited<ReturnType<ProviderModel['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

export const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
export const OPENAI_URL = 'https://api.openai.com/v1';
/** Of the API, which every request names. */
export const ANTHROPIC_VERSION = '2023-06-01';

/**
 * Loads the one provider package that is needed and returns its model. The address is always passed,
 * because the packages otherwise take one from the environment.
 */
export async function openProvider(
  choice: ProviderChoice,
  fetch: typeof globalThis.fetch,
): Promise<ProviderModel> {
  switch (choice.provider) {
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const provider = createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: choice.baseUrl,
        includeUsage: true,
        fetch,
        ...(choice.apiKey !== undefined && { apiKey: choice.apiKey }),
        ...(choice.headers !== undefined && { headers: choice.headers }),
      });
      return provider.chatModel(choice.model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      const baseURL = choice.baseUrl ?? ANTHROPIC_URL;
      return createAnthropic({ apiKey: choice.apiKey, baseURL, fetch })(choice.model);
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const baseURL = choice.baseUrl ?? OPENAI_URL;
      return createOpenAI({ apiKey: choice.apiKey, baseURL, fetch })(choice.model);
    }
  }
}

/** Options that only one provider has. OpenAI would otherwise keep every conversation for 30 days. */
export function providerOptions(choice: ProviderChoice): Pick<ProviderCall, 'providerOptions'> {
  // Its strict way takes only schemas of a kind of its own.
  const openai = { store: false, strictJsonSchema: false };
  return choice.provider === 'openai' ? { providerOptions: { openai } } : {};
}

/**
 * Holds OpenAI's models to a format. Others do not get it: Anthropic's package makes a forced tool of it, and many
 * local servers refuse it beside tools.
 */
export function providerFormat(
  provider: ProviderChoice['provider'],
  { format }: Pick<ModelRequest, 'format'>,
): Pick<ProviderCall, 'responseFormat'> {
  if (provider !== 'openai' || format === undefined) return {};
  if (format === 'json') return { responseFormat: { type: 'json' } };
  // It takes objects alone.
  if (format.type !== 'object') return {};
  return { responseFormat: { type: 'json', name: 'answer', schema: harmlessRecord(format) } };
}

/**
 * Makes the function that takes every token of a chat template out of a request (P18), no matter who
 * wrote it: a person, a page, a file of the workspace, a server in the description of its tool, the
 * model itself. Every request to a provider passes here last; Parley's own text holds none. A tool is
 * searched once.
 */
export function harmlessRequests(): (request: ModelRequest) => ModelRequest {
  const known = new WeakMap<ModelTool, ModelTool>();
  const toolOf = (tool: ModelTool): ModelTool => {
    const made = known.get(tool) ?? harmlessTool(tool);
    known.set(tool, made);
    return made;
  };
  return ({ system, messages, tools, ...rest }) => ({
    ...rest,
    system: system.map((layer) => ({ ...layer, text: harmless(layer.text) })),
    messages: messages.map(harmlessMessage),
    ...(tools && { tools: tools.map(toolOf) }),
  });
}

function harmlessTool({ name, description, inputSchema }: ModelTool): ModelTool {
  return {
    name: harmless(name),
    description: harmless(description),
    inputSchema: harmlessRecord(inputSchema),
  };
}

function harmlessMessage(message: ModelMessage): ModelMessage {
  const content = harmless(message.content);
  if (message.role === 'tool') return { ...message, content, name: harmless(message.name) };
  if (message.role === 'assistant' && message.toolCalls !== undefined) {
    return { ...message, content, toolCalls: message.toolCalls.map(harmlessCall) };
  }
  return content === message.content ? message : { ...message, content };
}

/** As values and not as the text of the JSON, in which a bracket may be written `\u003c`. */
function harmlessCall(call: ModelToolCall): ModelToolCall {
  const { name, arguments: written } = call;
  const given = /[<[\\]/.test(written) ? toolArguments(call) : null;
  return {
    ...call,
    name: harmless(name),
    arguments: given === null ? harmless(written) : JSON.stringify(harmlessRecord(given)),
  };
}

function harmlessRecord(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [harmless(key), harmlessValue(value)]),
  );
}

function harmlessValue(value: unknown): unknown {
  if (typeof value === 'string') return harmless(value);
  if (Array.isArray(value)) return value.map(harmlessValue);
  return typeof value === 'object' && value !== null ? harmlessRecord({ ...value }) : value;
}

/** Asks Anthropic to keep everything up to the block that carries it. */
const ANTHROPIC_CACHE = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * The request in the provider's shape. Anthropic gets the layers one by one with a cache mark on the
 * last stable one; everyone else gets one system message, since many chat templates allow only one.
 * Neighbouring messages of one role are joined, since many templates insist that roles take turns.
 */
export function providerPrompt(
  provider: ProviderChoice['provider'],
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

function joinTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const message of messages) {
    if (isEmpty(message)) continue;
    const joined = join(turns.at(-1), message);
    if (joined === null) turns.push(message);
    else turns[turns.length - 1] = joined;
  }
  return turns;
}

/** Two neighbours as one message; null where they stay two. Each result of a tool stays its own. */
function join(previous: ModelMessage | undefined, next: ModelMessage): ModelMessage | null {
  if (previous?.role === 'user' && next.role === 'user') {
    const images = [...imagesOf(previous), ...imagesOf(next)];
    return {
      ...previous,
      content: paragraphs(previous, next),
      ...(images.length > 0 && { images }),
    };
  }
  // What was said after a call belongs after its result.
  if (previous?.role !== 'assistant' || next.role !== 'assistant' || previous.toolCalls)
    return null;
  return { ...next, content: paragraphs(previous, next) };
}

function paragraphs(...messages: readonly ModelMessage[]): string {
  return messages
    .map(({ content }) => content)
    .filter((content) => content !== '')
    .join('\n\n');
}

function isEmpty(message: ModelMessage): boolean {
  if (message.role === 'tool' || message.content.trim() !== '') return false;
  if (message.role === 'assistant') return (message.toolCalls?.length ?? 0) === 0;
  return imagesOf(message).length === 0;
}

function imagesOf(message: ModelMessage): readonly ModelImage[] {
  return message.role === 'user' ? (message.images ?? []) : [];
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
  provider: ProviderChoice['provider'],
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

const Signed = z.record(z.string(), z.looseObject({ thoughtSignature: z.string().optional() }));

/** A call as it came, its arguments put together from their fragments. */
export function toolCallOf(part: Extract<ProviderPart, { type: 'tool-call' }>): ModelToolCall {
  const signed = Signed.safeParse(part.providerMetadata);
  const signature = Object.values(signed.data ?? {})
    .map(({ thoughtSignature }) => thoughtSignature)
    .find((found) => found !== undefined);
  return {
    id: part.toolCallId,
    name: part.toolName,
    arguments: part.input,
    ...(signature !== undefined && { signature }),
  };
}
