import type { ModelImage, ModelMessage, ModelRequest } from './chat-model.ts';
import type { ProviderChoice } from './model-settings.ts';
import type { ProviderPrompt } from './open-provider.ts';

const ANTHROPIC_CACHE = { anthropic: { cacheControl: { type: 'ephemeral' } } };

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
    const images = imagesOf(message);
    if (message.content.trim() === '' && images.length === 0) continue;
    const previous = turns.at(-1);
    if (previous?.role !== message.role) {
      turns.push(message);
      continue;
    }
    const content = [previous.content, message.content].filter((text) => text !== '').join('\n\n');
    const all = [...imagesOf(previous), ...images];
    turns[turns.length - 1] = {
      ...previous,
      content,
      ...(all.length > 0 && { images: all }),
    };
  }
  return turns;
}

function imagesOf(message: ModelMessage): readonly ModelImage[] {
  return message.role === 'user' ? (message.images ?? []) : [];
}

/** Pictures stand before the words about them, as the providers advise. */
function promptMessage(message: ModelMessage): ProviderPrompt[number] {
  const text = { type: 'text' as const, text: message.content };
  if (message.role === 'assistant') return { role: 'assistant', content: [text] };
  const pictures = imagesOf(message).map(({ mimeType, bytes }) => ({
    type: 'file' as const,
    mediaType: mimeType,
    data: { type: 'data' as const, data: bytes },
  }));
  return { role: 'user', content: message.content === '' ? pictures : [...pictures, text] };
}
