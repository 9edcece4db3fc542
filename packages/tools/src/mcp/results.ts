import { toCleanLines } from './clean.ts';
import { type McpFile, parseResultPart, type ResultPart } from './result-parts.ts';
import { type Block, getOwnValue, toBlock } from './schema/json-block.ts';

/** The result of a call, converted to text. `failed` means that the server reports a failure. */
export interface McpResult {
  readonly text: string;
  readonly failed: boolean;
  readonly files?: readonly McpFile[];
}

/** The maximum number of files accepted from one result. */
const MAX_FILES = 10;
/** The maximum number of parts read from one result. */
const MAX_PARTS = 1_000;

/** Converts a result into text for the model; the caller limits its length. */
export function formatResult(said: unknown): McpResult {
  const result = toBlock(said);
  if (result === undefined || Array.isArray(said)) {
    // Some servers return the text, or the list of parts, directly.
    return formatResult({ content: said });
  }
  const parts = findResultParts(result);
  const read = parts.slice(0, MAX_PARTS).map((part, nth) => parseResultPart(part, nth));
  const texts: string[] = read.map(({ text }) => text);
  if (parts.length > MAX_PARTS) texts.push(`[${parts.length - MAX_PARTS} more parts: not shown]`);
  const structured = findStructuredValues(result);
  // Structured values are shown only if there is no text, because servers are expected to send the
  // values as text as well.
  if (texts.every((text) => text.length === 0) && structured !== undefined) {
    texts.splice(0, texts.length, JSON.stringify(structured));
  }
  const { files, note } = collectFiles(read);
  if (note !== null) texts.push(note);
  const text = toCleanLines(texts.join('\n')) || '[The answer has no content.]';
  return { text, failed: isFailureResult(result), ...(files.length > 0 && { files }) };
}

/** Finds the parts at the positions where older or nonconforming servers put them. */
function findResultParts(result: Block): readonly unknown[] {
  const { content, toolResult, error } = result;
  if (Array.isArray(content)) return content;
  if (content !== undefined && content !== null) return [content];
  if (Array.isArray(toolResult)) return toolResult;
  if (toolResult !== undefined) {
    return [typeof toolResult === 'string' ? toolResult : JSON.stringify(toolResult)];
  }
  if (typeof error === 'string') return [error];
  const { message, ...values } = toBlock(error) ?? {};
  if (typeof message === 'string') return [message];
  if (Object.keys(values).length > 0) return [JSON.stringify(error)];
  return [];
}

/** Keys that are meaningless to a model. */
const PROTOCOL_KEYS = new Set([
  '_meta',
  'content',
  'isError',
  'is_error',
  'resultType',
  'toolResult',
  'error',
]);

/**
 * Returns the structured values of a result, or all its fields if the protocol's own key is
 * missing.
 */
function findStructuredValues(result: Block): unknown {
  const named = getOwnValue(result, 'structuredContent');
  if (named !== undefined && named !== null) return named;
  const others = Object.entries(result).filter(
    ([key, value]) => !PROTOCOL_KEYS.has(key) && value !== null,
  );
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** Servers report a failure as a boolean, a string, a number or the error itself. */
function isFailureResult({ is_error: otherwise, isError = otherwise, error }: Block): boolean {
  if (typeof isError === 'string') return /^(true|yes|1)$/i.test(isError.trim());
  if (typeof isError === 'boolean' || typeof isError === 'number') return Boolean(isError);
  if (typeof isError === 'object' && isError !== null) return true;
  if (typeof error === 'string') return error !== '';
  return error === true || Object.keys(toBlock(error) ?? {}).length > 0;
}

function collectFiles(parts: readonly ResultPart[]): {
  readonly files: readonly McpFile[];
  readonly note: string | null;
} {
  const all = parts.flatMap(({ file }) => file ?? []);
  const more = all.length - MAX_FILES;
  const note = more > 0 ? `[${more} more files: at most ${MAX_FILES} are taken]` : null;
  return { files: all.slice(0, MAX_FILES), note };
}

/** Formats the messages of a filled-in prompt as one text, and names roles where they matter. */
export function formatPrompt(said: unknown): string {
  const result = toBlock(said) ?? {};
  const messages = Array.isArray(result.messages) ? result.messages : [];
  const parts = messages.slice(0, MAX_PARTS).map((message: unknown) => {
    const block = toBlock(message);
    if (block === undefined) return formatResult({ content: message }).text;
    const { role, content, text: own } = block;
    const { text } = formatResult({ content: content ?? own });
    return role === 'assistant' ? `(As an example of an answer:) ${text}` : text;
  });
  if (parts.length === 0) throw new Error('the prompt that it returned has no messages');
  return toCleanLines(parts.join('\n\n'));
}

export function formatResourceContent(said: unknown): McpResult {
  const { contents } = toBlock(said) ?? {};
  const all = Array.isArray(contents) ? contents : [contents ?? {}];
  return formatResult({ content: all.map((resource) => ({ type: 'resource', resource })) });
}
