import { neutralizeTemplateTokens } from '@parley/core';
import {
  type AssistantMessage,
  type ModelImage,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  parseToolArguments,
  type SystemLayer,
} from '../chat-model.ts';
import { getImages, joinAdjacentMessages } from '../join-turns.ts';
import { neutralizeMessage, neutralizeTool } from '../template-tokens.ts';

/** The number of system layers whose bytes are cached; a conversation has about ten. */
const MAX_LAYERS = 200;
/** The maximum total size of the cached layers, in bytes of JSON. */
const MAX_LAYER_BYTES = 4 * 1_024 * 1_024;

/**
 * Creates the function that writes requests to one model as JSON bytes. Tools and the stable layers
 * of the system prompt, which make up nearly all of a request, have their chat template tokens
 * removed (P18) and are serialized once; the other messages are serialized each time. `options` are
 * additional fields from the settings.
 */
export function createRequestWriter(
  model: string,
  options: Readonly<Record<string, unknown>> = {},
): (request: ModelRequest) => Uint8Array {
  const more = Object.entries(options).filter(([name]) => name !== 'messages' && name !== 'tools');
  const tools = new WeakMap<ModelTool, Buffer>();
  const layers = createLayerCache();

  function bytesOfTool(tool: ModelTool): Buffer {
    const known = tools.get(tool);
    if (known !== undefined) return known;
    const { name, description, inputSchema: parameters } = neutralizeTool(tool);
    const made = toUtf8(
      toWellFormedJson({ type: 'function', function: { name, description, parameters } }),
    );
    tools.set(tool, made);
    return made;
  }

  function systemMessage(system: readonly SystemLayer[]): readonly Buffer[] {
    const written = system.filter(({ text }) => text.trim() !== '').map(layers);
    return written.length === 0 ? [] : [SYSTEM, ...intersperse(written, BETWEEN_LAYERS), END];
  }

  return ({ system, messages, tools: offered = [], maxOutputTokens }) => {
    const head = toWellFormedJson({
      stream_options: { include_usage: true },
      ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
      ...Object.fromEntries(more),
      model,
      stream: true,
    });
    const first = systemMessage(system);
    const history = joinAdjacentMessages(messages.map(neutralizeMessage))
      .map((message) => toWellFormedJson(toWireMessage(message)))
      .join(',');
    const comma = first.length > 0 && history !== '' ? ',' : '';
    const list = intersperse(offered.map(bytesOfTool), COMMA);
    return Buffer.concat([
      toUtf8(`${head.slice(0, -1)},"messages":[`),
      ...first,
      // The field is omitted if there are no tools, because some servers refuse an empty list.
      toUtf8(`${comma}${history}]${list.length > 0 ? ',"tools":[' : '}'}`),
      ...list,
      ...(list.length > 0 ? [TOOLS_END] : []),
    ]);
  };
}

const COMMA = Buffer.from(',');
const TOOLS_END = Buffer.from(']}');
const SYSTEM = Buffer.from('{"role":"system","content":"');
const END = Buffer.from('"}');
/** A blank line inside a JSON string. */
const BETWEEN_LAYERS = Buffer.from('\\n\\n');

/**
 * Caches the newest stable layers by their text, as the content between the quotes in their JSON.
 */
function createLayerCache(): (layer: SystemLayer) => Buffer {
  const kept = new Map<string, Buffer>();
  let size = 0;
  return ({ text, stable }) => {
    const known = kept.get(text);
    const made = known ?? toUtf8(toWellFormedJson(neutralizeTemplateTokens(text)).slice(1, -1));
    if (!stable) return made;
    if (known === undefined) size += made.length;
    kept.delete(text);
    kept.set(text, made);
    for (const [oldest, bytes] of kept) {
      if (kept.size <= MAX_LAYERS && size <= MAX_LAYER_BYTES) break;
      kept.delete(oldest);
      size -= bytes.length;
    }
    return made;
  };
}

function intersperse(parts: readonly Buffer[], separator: Buffer): readonly Buffer[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
}

/**
 * Matches a lone surrogate, which `JSON.stringify` writes as an escape; a backslash in the text
 * itself is doubled.
 */
const HALF_CHARACTER = /(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/gi;

/** Returns JSON without lone surrogates, which many servers cannot parse. */
function toWellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\ud') ? text.replace(HALF_CHARACTER, '\\ufffd') : text;
}

/**
 * Nearly every prompt has a character beyond Latin-1, so V8 stores the whole text in UTF-16; the
 * built-in conversion to UTF-8 takes three times as long.
 */
function toUtf8(text: string): Buffer {
  const { transcode } = process.getBuiltinModule('node:buffer');
  return transcode(Buffer.from(text, 'utf16le'), 'utf16le', 'utf8');
}

function toWireMessage(message: ModelMessage): object {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: toUserContent(message) };
    case 'assistant':
      return toAssistantMessage(message);
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content };
  }
}

/** Pictures come before the text about them, as the providers recommend. */
function toUserContent(message: ModelMessage): string | readonly object[] {
  const images = getImages(message);
  if (images.length === 0) return message.content;
  const text = message.content === '' ? [] : [{ type: 'text', text: message.content }];
  return [...images.map(toImagePart), ...text];
}

function toImagePart({ mimeType, bytes }: ModelImage): object {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
}

/**
 * Servers require arguments to be an object. If the model wrote something else, the result reports
 * it.
 */
function toAssistantMessage({ content, toolCalls = [] }: AssistantMessage): object {
  if (toolCalls.length === 0) return { role: 'assistant', content };
  return {
    role: 'assistant',
    content: content.trim() === '' ? null : content,
    tool_calls: toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(parseToolArguments(call) ?? {}) },
      // Gemini expects its thought signature back with the call.
      ...(call.signature !== undefined && {
        extra_content: { google: { thought_signature: call.signature } },
      }),
    })),
  };
}
