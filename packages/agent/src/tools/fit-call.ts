import { isPlaceholder } from '@parley/core';
import type { ModelToolCall } from '@parley/models';
import { fitCall } from '@parley/models/calls';
import type { ToolSet } from './tool-registry.ts';

/**
 * A call as its tool takes it, where the name of the tool and the schema of its arguments leave one meaning; else as
 * the model wrote it, and the tool refuses it. It is fitted before it enters the journal: what is looked at by rules,
 * shown for an approval, run and sent back to the model is the same. `isQuick`: checking these arguments takes no time to
 * speak of. Loaded with the first call of a tool.
 */
export function fittedCall(
  call: ModelToolCall,
  tools: ToolSet,
  isQuick: (name: string, input: unknown, tools: ToolSet) => boolean,
): ModelToolCall {
  const fitted = fitCall(call, tools.offered);
  if (fitted.kind === 'no-tool') return call;
  if (fitted.kind === 'misfit') return fitted.call;
  const { name, arguments: written } = fitted.call;
  const input: unknown = written.trim() === '' ? {} : JSON.parse(written);
  return isQuick(name, input, tools) ? withoutPlaceholders(fitted.call, input, tools) : fitted.call;
}

/**
 * Without arguments that only say "nothing", such as `"none"`, 0 or an empty list, where the tool refuses the call with
 * them and takes it without them: its own check knows more than its schema says.
 */
function withoutPlaceholders(call: ModelToolCall, input: unknown, tools: ToolSet): ModelToolCall {
  const tool = tools.get(call.name);
  if (tool === undefined) return call;
  const fits = (value: unknown) => tool.input.safeParse(value).success;
  if (fits(input)) return call;
  for (const saysNothing of [isPlaceholder, isEmptyArgument]) {
    const said = Object.entries(Object(input)).filter(([, value]) => !saysNothing(value));
    const rest = Object.fromEntries(said);
    if (fits(rest)) return { ...call, arguments: JSON.stringify(rest) };
  }
  return call;
}

function isEmptyArgument(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === 0 || isPlaceholder(value);
}
