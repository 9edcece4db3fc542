import { isPlaceholder, type ModelToolCall, toolArguments } from '@parley/models';
import { fitCall } from '@parley/models/calls';
import type { ToolSet } from './tool-registry.ts';
import { isQuick } from './try-arguments.ts';

/**
 * A call as its tool takes it, where the name of the tool and the schema of its arguments leave one meaning; else as
 * the model wrote it, and the tool refuses it. It is fitted before it enters the journal: what is looked at by rules,
 * shown for an approval, run and sent back to the model is the same.
 */
export function fittedCall(call: ModelToolCall, tools: ToolSet): ModelToolCall {
  const fitted = fitCall(call, tools.offered);
  if (fitted.kind === 'no-tool') return call;
  return fitted.kind === 'fits' ? withoutPlaceholders(fitted.call, tools) : fitted.call;
}

/**
 * Without arguments that only say "nothing", such as `"none"`, 0 or an empty list, where the tool refuses the call with
 * them and takes it without them: its own check knows more than its schema says.
 */
function withoutPlaceholders(call: ModelToolCall, tools: ToolSet): ModelToolCall {
  const tool = tools.get(call.name);
  const input = toolArguments(call);
  if (tool === undefined || input === null || !isQuick(call.name, input, tools)) return call;
  const fits = (value: unknown) => tool.input.safeParse(value).success;
  if (fits(input)) return call;
  for (const saysNothing of [isPlaceholder, isEmpty]) {
    const said = Object.entries(input).filter(([, value]) => !saysNothing(value));
    const rest = Object.fromEntries(said);
    if (fits(rest)) return { ...call, arguments: JSON.stringify(rest) };
  }
  return call;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === 0 || isPlaceholder(value);
}
