import { CheckError, type CheckRunner } from '@parley/core';
import { type ModelToolCall, parseToolArguments } from '@parley/models';
import { createFailedOutcome, type ToolOutcome } from './tool.ts';
import type { ToolSet } from './tool-set.ts';

/** The number of validation steps that take less than a tenth of a second. */
const MAX_CHECK_STEPS = 50_000;

/**
 * Validates the arguments of a call in a thread first if that could take long, because they are
 * validated several times during a call and would block the event loop. Returns null if the
 * arguments can be validated; otherwise the refusal for the model. Throws if `stop` has fired.
 */
export async function validateArguments(
  { tools, checks }: { readonly tools: ToolSet; readonly checks: CheckRunner },
  call: ModelToolCall,
  stop: AbortSignal,
): Promise<ToolOutcome | null> {
  const input = parseToolArguments(call);
  if (input === null || isQuickToCheck(call.name, input, tools)) return null;
  const schema = tools.definitions.find(({ name }) => name === call.name)?.inputSchema ?? {};
  try {
    await checks.tryValue(input, schema, stop);
    return null;
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    return createFailedOutcome(
      `${call.name} was not run, because its arguments cannot be checked: ${error.message} Call it with shorter and fewer values.`,
    );
  }
}

/** Whether validating these arguments takes almost no time. */
export function isQuickToCheck(
  name: string,
  input: unknown,
  { sizes }: Pick<ToolSet, 'sizes'>,
): boolean {
  const size = sizes.get(name);
  // Parley's own tools have no measured size and always count as quick.
  if (size === undefined) return true;
  return size.isPredictable && hasAtMost(input, MAX_CHECK_STEPS / size.expanded);
}

/** Whether a JSON value has at most `limit` nested values. */
function hasAtMost(value: unknown, limit: number): boolean {
  const open = [value];
  let left = limit;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const parts: readonly unknown[] = Object.values(next);
    left -= parts.length;
    if (left < 0) return false;
    for (const part of parts) open.push(part);
  }
  return true;
}
