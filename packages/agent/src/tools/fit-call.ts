import { isPlaceholder } from '@parley/core';
import type { ModelToolCall } from '@parley/models';
import { coerceCall } from '@parley/models/calls';
import type { ToolSet } from './tool-set.ts';

/**
 * Corrects a call to the form that its tool accepts, if the tool's name and schema allow only one
 * interpretation. Otherwise returns the call unchanged, and the tool refuses it. The correction
 * runs before the call is journaled, so rules, approvals, the run and the model all see the same
 * call. `isQuick` means that validating these arguments takes almost no time. This module is loaded
 * with the first tool call.
 */
export function correctToolCall(
  call: ModelToolCall,
  tools: ToolSet,
  isQuick: (name: string, input: unknown, tools: ToolSet) => boolean,
): ModelToolCall {
  const fitted = coerceCall(call, tools.definitions);
  if (fitted.kind === 'no-tool') return call;
  if (fitted.kind === 'misfit') return fitted.call;
  const { name, arguments: written } = fitted.call;
  const input: unknown = written.trim() === '' ? {} : JSON.parse(written);
  return isQuick(name, input, tools) ? removePlaceholders(fitted.call, input, tools) : fitted.call;
}

/**
 * Removes arguments that only mean "nothing", such as `"none"`, 0 or an empty list, if the tool
 * refuses the call with them and accepts it without them. The tool's own validation is more precise
 * than its schema.
 */
function removePlaceholders(call: ModelToolCall, input: unknown, tools: ToolSet): ModelToolCall {
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
