import { CheckError, type CheckRunner } from '@parley/core';
import { type ModelToolCall, toolArguments } from '@parley/models';
import { isQuick } from './fit-call.ts';
import { failure, type ToolOutcome } from './tool.ts';
import type { ToolSet } from './tool-registry.ts';

/**
 * Tries the arguments of a call out, off the event loop, where checking them could take long: there they are checked
 * several times during a call, and everyone waits meanwhile. Null where they can be checked; else the refusal for the
 * model. Throws when `stop` has fired.
 */
export async function tryArguments(
  { tools, checks }: { readonly tools: ToolSet; readonly checks: CheckRunner },
  call: ModelToolCall,
  stop: AbortSignal,
): Promise<ToolOutcome | null> {
  const input = toolArguments(call);
  if (input === null || isQuick(call.name, input, tools)) return null;
  const schema = tools.offered.find(({ name }) => name === call.name)?.inputSchema ?? {};
  try {
    await checks.tryValue(input, schema, stop);
    return null;
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    return failure(
      `${call.name} was not run, because its arguments cannot be checked: ${error.message} Call it with shorter and fewer values.`,
    );
  }
}
