import { resolveToolName } from '../calls/tool-name.ts';
import type { ModelTool } from '../chat-model.ts';
import { parseTextToolCalls, type TextToolCall } from './written-calls.ts';

/** The keys with which a call in JSON starts. */
const FIRST_KEYS: ReadonlySet<string> = new Set([
  'name',
  'tool',
  'tool_name',
  'function',
  'function_name',
  'action',
  'recipient_name',
  'tool_calls',
  'type',
  'id',
  'arguments',
  'parameters',
  'args',
  'input',
]);
/** The maximum position of the tool name, in characters. */
const MAX_HEAD = 300;

/**
 * Whether an answer consists only of an unmarked call: JSON, JSON in a fence, or a list of calls in
 * Python syntax. Such JSON may also be an answer, so it counts as a call only if it is the entire
 * answer and names an offered tool. `hold`: the text may still become such a call.
 */
export function classifyUnmarkedCall(
  text: string,
  offered: readonly ModelTool[],
  ended: boolean,
): 'hold' | 'text' | { readonly calls: readonly TextToolCall[] } {
  const start = text.trimStart();
  const fence = /^(`{3,}|~{3,})[ \t]*[\w-]*[ \t]*\n/.exec(start);
  if (fence === null && /^(?:`{1,3}|~{1,3})[\w-]{0,20}[ \t]*$/.test(start))
    return ended ? 'text' : 'hold';
  const body = fence === null ? start : start.slice(fence[0].length);
  if (!canBecomeCall(body, offered)) return 'text';
  if (!ended) return hasTextAfterCall(body, fence?.[1]) ? 'text' : 'hold';
  const calls = parseTextToolCalls(start);
  const names = offered.map(({ name }) => name);
  const isMeant = calls?.every(({ name }) => resolveToolName(name, names).kind === 'tool') === true;
  return isMeant && calls !== null ? { calls } : 'text';
}

function canBecomeCall(body: string, offered: readonly ModelTool[]): boolean {
  const head = body.slice(0, MAX_HEAD);
  const names = offered.map(({ name }) => name);
  const isOffered = (name: string) => resolveToolName(name, names).kind === 'tool';
  const [, python] = /^\s*\[\s*([a-z_][\w.]*)\(/i.exec(head) ?? [];
  if (python !== undefined) return isOffered(python);
  if (/^\s*\[\s*[a-z_][\w.]*$/i.test(head)) return true;
  const [, key] = /^\s*\[?\s*\{\s*["']([^"']*)["']/.exec(head) ?? [];
  if (key === undefined) return /^\s*\[?\s*(?:\{\s*(?:["'][^"']*)?)?$/.test(head);
  if (!FIRST_KEYS.has(key)) return false;
  const [, name] =
    /["'](?:name|tool|tool_name|function|function_name|action|recipient_name)["']\s*:\s*["']([^"']{1,100})["']/.exec(
      head,
    ) ?? [];
  return name === undefined ? head.length < MAX_HEAD : isOffered(name);
}

/** Whether other text follows the call. */
function hasTextAfterCall(body: string, fence: string | undefined): boolean {
  if (fence === undefined) return false;
  const end = body.indexOf(`\n${fence}`);
  return end !== -1 && body.slice(end + 1 + fence.length).trim() !== '';
}
