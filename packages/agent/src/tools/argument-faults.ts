import type { ModelTool, ModelToolCall } from '@parley/models';
import { coerceCall } from '@parley/models/calls';
import type { z } from 'zod';

/** The maximum length of quoted arguments that are not a JSON object, in characters. */
const MAX_QUOTED_CHARACTERS = 200;
const MAX_FAULTS = 5;
const MAX_FAULT_CHARACTERS = 300;

/**
 * Explains to the model why the arguments of a call are invalid, so that it can correct them: the
 * location of each error, the value there and what was expected. `input` contains the parsed
 * arguments; null if they are not a JSON object.
 */
export function explainArgumentFault(
  tool: { readonly name: string; readonly input: z.ZodType },
  call: ModelToolCall,
  input: unknown,
  offered: ModelTool | undefined,
): string {
  const checked = input === null ? null : tool.input.safeParse(input);
  const fitted = offered === undefined ? null : coerceCall(call, [offered]);
  const begin = `${tool.name} was not run, because its arguments`;
  if (input === null) {
    const problem = fitted?.kind === 'misfit' ? `: ${fitted.problem}` : '';
    const quoted = JSON.stringify(call.arguments.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed());
    return `${begin} are not a JSON object${problem}. They were ${quoted}. Call it again with one valid JSON object.`;
  }
  const form = fitted?.kind === 'misfit' ? [fitted.problem] : [];
  const issues = (checked?.error?.issues ?? []).map((issue) => describeIssue(issue, input));
  const faults = [...new Set(form.length > 0 ? form : issues)].slice(0, MAX_FAULTS);
  const lines = faults.map((fault) => `- ${fault.slice(0, MAX_FAULT_CHARACTERS).toWellFormed()}`);
  return `${begin} do not fit:\n${lines.join('\n')}\nCall it again with these corrected.`;
}

function describeIssue({ path, message }: z.core.$ZodIssue, input: unknown): string {
  const where = path.length === 0 ? 'the arguments' : path.map(String).join('.');
  const found = path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).find(([name]) => name === String(key))?.[1]
        : undefined,
    input,
  );
  const shown = JSON.stringify(found);
  if (shown === undefined) return `${where} is missing: ${message}`;
  return path.length === 0 ? `${where}: ${message}` : `${where}: ${message}, but got ${shown}`;
}
