import { z } from 'zod';
import { type ChatRequest, getMessageText } from './chat-request.ts';

/** The double's reply to one request. A bare string is the text of an ordinary answer. */
export const ScriptedReply = z.union([
  z.string(),
  z.strictObject({
    /**
     * The pieces of the answer, one per server-sent event; or one text, which is split into pieces.
     */
    text: z.union([z.string(), z.array(z.string())]).optional(),
    /** Thoughts that are streamed before the text, as `reasoning_content`. */
    reasoning: z.string().optional(),
    toolCalls: z
      .array(
        z.strictObject({
          id: z.string().optional(),
          name: z.string(),
          /** Sent as JSON. */
          arguments: z.unknown(),
          /** Sent literally instead, to simulate a model that makes mistakes. */
          written: z.string().optional(),
        }),
      )
      .optional(),
    finishReason: z.string().optional(),
    /** `none` does not send token counts, as is the case with some servers. */
    usage: z
      .union([
        z.literal('none'),
        z.strictObject({ prompt: z.int(), completion: z.int(), cached: z.int().optional() }),
      ])
      .optional(),
  }),
]);
export type ScriptedReply = z.infer<typeof ScriptedReply>;

/** Decides what to say; may be slow, so a test can hold an answer back. */
export type ReplyScript = (request: ChatRequest) => ScriptedReply | Promise<ScriptedReply>;

/** A reply with all defaults filled in. */
export interface FullReply {
  readonly pieces: readonly string[];
  readonly reasoning: string;
  readonly toolCalls: readonly { id: string; name: string; arguments: string }[];
  readonly finishReason: string;
  readonly usage: WireUsage | null;
}

/** Token counts in wire format. */
export interface WireUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
}

/** Characters per piece when a text is not split by hand; about eight tokens. */
const PIECE = 32;

/**
 * The answer when nothing is scripted: it repeats the last user text, so that a test can predict
 * it.
 */
export function echoLastText(request: ChatRequest): ScriptedReply {
  return `You said: ${getMessageText(request.messages.findLast(({ role }) => role === 'user'))}`;
}

/**
 * Fills in everything that a script leaves out. Token counts are a quarter of the characters, which
 * is good enough.
 */
export function completeReply(reply: ScriptedReply, request: ChatRequest): FullReply {
  const said = typeof reply === 'string' ? { text: reply } : reply;
  const pieces = typeof said.text === 'string' ? splitText(said.text) : (said.text ?? []);
  const toolCalls = (said.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${index + 1}`,
    name: call.name,
    arguments: call.written ?? JSON.stringify(call.arguments ?? {}),
  }));
  return {
    pieces,
    reasoning: said.reasoning ?? '',
    toolCalls,
    finishReason: said.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    usage: toWireUsage(said.usage, request, pieces),
  };
}

function toWireUsage(
  scripted:
    | 'none'
    | { prompt: number; completion: number; cached?: number | undefined }
    | undefined,
  request: ChatRequest,
  pieces: readonly string[],
): WireUsage | null {
  if (scripted === 'none') return null;
  const asked = request.messages.reduce((sum, message) => sum + getMessageText(message).length, 0);
  const prompt = scripted?.prompt ?? Math.ceil(asked / 4);
  const completion = scripted?.completion ?? Math.ceil(pieces.join('').length / 4);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: scripted?.cached ?? 0 },
  };
}

function splitText(text: string): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += PIECE) {
    pieces.push(characters.slice(at, at + PIECE).join(''));
  }
  return pieces;
}
