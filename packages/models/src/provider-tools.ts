import { z } from 'zod';
import type { ModelRequest, ModelToolCall } from './chat-model.ts';
import type { ProviderChoice } from './model-settings.ts';
import type { ProviderCall, ProviderPart } from './open-provider.ts';
import { ANTHROPIC_CACHE } from './provider-prompt.ts';

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
