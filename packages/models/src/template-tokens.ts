import { withoutTemplateTokens } from '@parley/core';
import {
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  toolArguments,
} from './chat-model.ts';

/**
 * Creates the function that removes every chat template token from a request (P18), no matter who
 * wrote it: a person, a web page, a workspace file, a server describing its tool, or the model
 * itself. It is the last step before every request to a provider; Parley's own text contains no
 * such tokens. Each tool is searched once.
 */
export function harmlessRequests(): (request: ModelRequest) => ModelRequest {
  const known = new WeakMap<ModelTool, ModelTool>();
  const toolOf = (tool: ModelTool): ModelTool => {
    const made = known.get(tool) ?? harmlessTool(tool);
    known.set(tool, made);
    return made;
  };
  return ({ system, messages, tools, ...rest }) => ({
    ...rest,
    system: system.map((layer) => ({ ...layer, text: withoutTemplateTokens(layer.text) })),
    messages: messages.map(harmlessMessage),
    ...(tools && { tools: tools.map(toolOf) }),
  });
}

/** A tool without chat template tokens, even in its schema. */
export function harmlessTool({ name, description, inputSchema }: ModelTool): ModelTool {
  return {
    name: withoutTemplateTokens(name),
    description: withoutTemplateTokens(description),
    inputSchema: harmlessRecord(inputSchema),
  };
}

/** A message without chat template tokens; the same object when it has none. */
export function harmlessMessage(message: ModelMessage): ModelMessage {
  const content = withoutTemplateTokens(message.content);
  if (message.role === 'tool')
    return { ...message, content, name: withoutTemplateTokens(message.name) };
  if (message.role === 'assistant' && message.toolCalls !== undefined) {
    return { ...message, content, toolCalls: message.toolCalls.map(harmlessCall) };
  }
  return content === message.content ? message : { ...message, content };
}

/** Operates on values rather than on JSON text, in which a bracket may be written `\u003c`. */
function harmlessCall(call: ModelToolCall): ModelToolCall {
  const { name, arguments: written } = call;
  const given = /[<[\\]/.test(written) ? toolArguments(call) : null;
  return {
    ...call,
    name: withoutTemplateTokens(name),
    arguments:
      given === null ? withoutTemplateTokens(written) : JSON.stringify(harmlessRecord(given)),
  };
}

/** Removes the tokens from the keys and all strings in a JSON object. */
export function harmlessRecord(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      withoutTemplateTokens(key),
      harmlessValue(value),
    ]),
  );
}

function harmlessValue(value: unknown): unknown {
  if (typeof value === 'string') return withoutTemplateTokens(value);
  if (Array.isArray(value)) return value.map(harmlessValue);
  return typeof value === 'object' && value !== null ? harmlessRecord({ ...value }) : value;
}
