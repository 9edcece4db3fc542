import { reasonOf } from '@parley/core';
import { type ModelToolCall, toolArguments } from '@parley/models';
import { frameUntrusted } from '@parley/prompt';
import { cutText } from '@parley/workspace';
import { z } from 'zod';
import { TimeUpError, withTimeLimit } from '../time-limit.ts';
import type { Tool, ToolCall, ToolOutcome } from './tool.ts';

export interface ToolLimits {
  /** In ms. */
  readonly toolMs: number;
  readonly outputCharacters: number;
}

/** Tools of plugins are not always written in TypeScript. */
const Outcome = z.object({
  text: z.string(),
  note: z.string().default(''),
  failed: z.boolean().default(false),
});

/** Invalid arguments, errors and timeouts are outcomes for the model. Throws only when `stop` has fired. */
export async function runTool(
  { tool, foreign }: { readonly tool: Tool; readonly foreign: boolean },
  call: ModelToolCall,
  at: Omit<ToolCall, 'signal'>,
  { toolMs, outputCharacters }: ToolLimits,
  stop: AbortSignal,
): Promise<Required<Omit<ToolOutcome, 'note'>>> {
  const input = toolArguments(call);
  const fault = input === null ? unparsedArguments(call) : invalidArguments(tool, input);
  if (fault !== null) return { text: fault, failed: true };
  try {
    const result = await withTimeLimit({ ms: tool.limits?.ms ?? toolMs, stop }, (signal) =>
      tool.run(input, { ...at, signal }),
    );
    const { text, note, failed } = Outcome.parse(result);
    const characters = tool.limits?.characters ?? outputCharacters;
    const cut = cutText(text, characters, `what ${tool.name} said`).text;
    return { text: framed(foreign, note, cut) || '(It said nothing.)', failed };
  } catch (error) {
    stop.throwIfAborted();
    const reason = reasonOf(error);
    at.log.warn({ tool: tool.name, reason }, 'tool failed');
    const shownReason = cutText(reason, 2_000, 'the reason').text;
    const isLate = error instanceof TimeUpError;
    const text =
      foreign && !isLate
        ? framed(foreign, `${tool.name} failed.`, shownReason)
        : `${tool.name} failed: ${shownReason}.${isLate && tool.effect !== 'read' ? UNSURE : ''}`;
    return { text, failed: true };
  }
}

/** After a timeout an effect outside may or may not have happened. */
const UNSURE = ' Whether it took effect is not known: look before you do it again.';

/** The frame comes last: whatever shortens a result keeps its closing line. */
function framed(foreign: boolean, note: string, text: string): string {
  const shown = foreign && text !== '' ? frameUntrusted(text) : text;
  return [note, shown].filter((part) => part !== '').join('\n\n');
}

/** Of invalid JSON that is quoted. */
const QUOTED_CHARACTERS = 200;

function unparsedArguments({ name, arguments: written }: ModelToolCall): string {
  const quoted = JSON.stringify(cutText(written, QUOTED_CHARACTERS, 'the arguments').text);
  return `${name} was not run: its arguments are not a JSON object. They were ${quoted}. Call it again with valid JSON.`;
}

function invalidArguments({ name, input: schema }: Tool, input: unknown): string | null {
  const checked = schema.safeParse(input);
  if (checked.success) return null;
  return `${name} was not run, because its arguments do not fit:\n${z.prettifyError(checked.error)}`;
}
