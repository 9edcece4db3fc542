import { z } from 'zod';
import type { ModelToolCall } from './chat-model.ts';

const Arguments = z.record(z.string(), z.unknown());

/**
 * The arguments of a call as an object; null when the model wrote something else. Many models write
 * nothing at all for a tool without parameters, which counts as none.
 */
export function toolArguments(
  call: Pick<ModelToolCall, 'arguments'>,
): Readonly<Record<string, unknown>> | null {
  if (call.arguments.trim() === '') return {};
  try {
    const parsed = Arguments.safeParse(JSON.parse(call.arguments));
    return parsed.success ? parsed.data : null;
  } catch {
    // Broken JSON is an everyday mistake of small models; the caller tells the model.
    return null;
  }
}
