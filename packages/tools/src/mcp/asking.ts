import { McpError } from './errors.ts';
import { type Block, getOwnValue, toBlock } from './schema/json-block.ts';

/**
 * Additional input that a server of July 2026 or later needs before it executes a call; the server
 * has not executed anything yet.
 */
export interface McpInputRequest {
  /** The server's requests as it sent them, with the keys that the answers must use. */
  readonly asks: Readonly<Record<string, unknown>>;
  /** An opaque state of the server, which is returned unchanged. */
  readonly state?: string;
}

export interface McpReply {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly state?: string | undefined;
}

/** Parley's capabilities during a call: a form, and a URL that the person opens. */
export const CALL_CAPABILITIES = { elicitation: { form: {}, url: {} } } as const;

/**
 * The maximum size of a server's requests including their state, because they are stored in the
 * turn's journal.
 */
const MAX_CHARACTERS = 100_000;

/**
 * Returns the questions that a server sent instead of a result; null for a result. Throws McpError
 * if the questions are too large to be stored.
 */
export function parseInputRequest(said: unknown): McpInputRequest | null {
  const block = toBlock(said);
  if (block === undefined || block.resultType !== 'input_required') return null;
  const asking = {
    asks: toBlock(getOwnValue(block, 'inputRequests')) ?? {},
    ...getRequestState(block),
  };
  if (JSON.stringify(asking).length <= MAX_CHARACTERS) return asking;
  const message = `it asks for something with more than ${MAX_CHARACTERS} characters, which is not passed on`;
  throw new McpError({ code: 'mcp-invalid-response', message, retryable: false });
}

function getRequestState(block: Block): { readonly state?: string } {
  const state = getOwnValue(block, 'requestState');
  return typeof state === 'string' ? { state } : {};
}

/** The additional parameters of a repeated call. */
export function createReplyParams(reply: McpReply | undefined): Block {
  if (reply === undefined) return {};
  const { responses, state } = reply;
  return {
    ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
    ...(state !== undefined && { requestState: state }),
  };
}
