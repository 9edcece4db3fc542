import type {
  AssistantMessage,
  ModelImage,
  ModelMessage,
  ModelRequest,
  ModelToolCall,
  ToolMessage,
} from './chat-model.ts';
import type { ProviderChoice } from './model-settings.ts';
import type { ProviderPrompt } from './open-provider.ts';
import { toolArguments } from './tool-arguments.ts';

/** Asks Anthropic to keep everything up to the block that carries it. */
export const ANTHROPIC_CACHE = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * The request in the provider's shape. Anthropic gets the layers one by one with a cache mark on the
 * last stable one; everybody else gets one system message, since many chat templates allow only one.
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

/** Pictures stand before the words about them, as the providers advise. */
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
  const words = content.trim() === '' ? [] : [textPart(content)];
  return [...words, ...toolCalls.map(toolCallPart)];
}

/** Providers want an object: what the model wrote instead stands in the result, which says so. */
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
